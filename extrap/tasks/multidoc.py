"""Multi-document question answering: one of K short documents holds the answer to a question at the end of the context.

    ordered, shuffled    a context full of documents, the gold one moved through it; hard distractors first, or in no order
    oracle, closed_book  the gold document alone, and no document: what a reader gets at best, and what can be guessed
    retrieved            the first K documents of a weak retriever, which may miss the gold one: does a reader gain from more?

Documents, questions and test contexts: extrap.data.facts, extrap.data.trials.multidoc. Source: arXiv 2307.03172, whose documents
are passages of an encyclopedia; these are facts (subject, relation, object) in a template, which a small model can be trained for.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from extrap.tasks.scoring.single_token import SEED, check_depths, guess, mark, report, report_curve, report_gate, score
from extrap.data.trials.multidoc import Documents
from extrap.data.facts import RELATIONS, Template
from extrap.data.trials.keyvalue import DEPTHS, Trials
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError
from extrap.model.scheme import OutOfRange
from extrap.tasks.base import Model, Progress, Result, Task, check_at_least, check_multiples, lengths

Score = Callable[[Trials], dict[str, np.ndarray]]
ORDERS = {"ordered": True, "shuffled": False}


class MultiDoc(Task):
    """Accuracy by place of the gold document and number of documents K. An answer is one token.

    multiples: evaluated lengths over the training length, 1 among them; depths: of the gold document, index over K - 1, in [0, 1],
    with 0, 1 and one in [.25, .75]; trials: of each cell; facts: of a document; top: numbers of documents that a retriever hands
    over, whose gold document has rank j = 1, 2, ... with probability hit (1 - hit)^(j - 1); batch_tokens: tokens per forward, which
    changes speed and memory only. Rows have K as axis `documents`. Metrics:

    accuracy, restricted, format, primacy, recency, u_depth, tilt, mid, guess, chance    as in extrap.tasks.kv
    handed    of the protocol retrieved: share of the trials whose gold document is handed over; no reader can do better by reading
    gate      mean accuracy over depths of `ordered` at the training length; below 0.9 every row has the status `not trained`
    """

    def __init__(
        self,
        multiples: Sequence[float] = (1, 2, 4),
        depths: Sequence[float] = DEPTHS,
        trials: int = 200,
        facts: int = 1,
        top: Sequence[int] = (1, 2, 3, 5, 10, 20, 40),
        hit: float = 0.1,
        batch_tokens: int = 4096,
    ):
        self.multiples, self.depths, self.trials, self.facts = multiples, depths, trials, facts
        self.top, self.hit, self.batch_tokens = top, hit, batch_tokens

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        check_multiples("task.multidoc.multiples", self.multiples, train_length)
        if 1 not in self.multiples:
            raise UserError(f"task.multidoc.multiples={list(self.multiples)}: must hold 1, where it shows whether the run learned the task")
        if not 1 <= self.facts <= len(RELATIONS):
            raise UserError(f"task.multidoc.facts={self.facts}: from 1 to {len(RELATIONS)}, a relation each")
        for name in ("trials", "batch_tokens"):
            check_at_least(f"task.multidoc.{name}", getattr(self, name), 1)
        check_depths("task.multidoc.depths", self.depths, "document")
        self._check_retriever(vocabulary)
        template, longest = Template.of(vocabulary, self.facts), max(lengths(self.multiples, train_length))
        if template.most(train_length) < 2:
            least = 1 + 2 * template.width + template.question_width
            raise UserError(
                f"task.multidoc.facts={self.facts}: two documents and a question need {least} tokens; train with a longer length"
            )
        if template.most(longest) > vocabulary.keys:
            raise UserError(
                f"task.multidoc.multiples={list(self.multiples)}: {longest} tokens hold {template.most(longest)} documents, each with a "
                f"subject of its own, but data.vocabulary.keys={vocabulary.keys}; give smaller multiples, or train with more keys"
            )
        corpus.check("validation", longest)

    def _check_retriever(self, vocabulary: Vocabulary) -> None:
        if not 0 < self.hit <= 1:
            raise UserError(f"task.multidoc.hit={self.hit}: a probability above 0, at most 1")
        if not all(1 <= k < vocabulary.keys for k in self.top) or len(set(self.top)) < len(self.top):
            raise UserError(
                f"task.multidoc.top={list(self.top)}: different numbers of documents from 1 to below data.vocabulary.keys={vocabulary.keys}"
            )

    def run(self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress) -> Result:
        made = Documents(vocabulary, corpus.stream("validation"), self.facts, SEED)
        ns, width = sorted(lengths(self.multiples, train_length)), made.template.width
        plan = [(2 * width, partial(self._lines, made, train_length))]
        plan += [(n * len(self.depths), partial(self._moved, made, protocol, n, n == train_length)) for n in ns for protocol in ORDERS]
        plan += [(k * width, partial(self._retrieved, made, k)) for k in sorted(self.top)]
        result, done, total = Result(), 0, sum(cost for cost, _ in plan)
        for cost, measure in plan:
            part = Result()
            try:
                measure(part, partial(score, model, vocabulary=vocabulary, batch_tokens=self.batch_tokens))
                result.rows += part.rows
                result.items += part.items
            except OutOfRange:
                pass
            done += cost
            progress(done * self.trials, total * self.trials)
        result.rows.append({"metric": "chance", "value": 1 / vocabulary.values})
        return mark(result)

    def _lines(self, made: Documents, length: int, result: Result, scores: Score) -> None:
        """What a reader gets at best and what can be guessed, on the questions of the training length."""
        for protocol, K, trials in (
            ("oracle", 1, made.oracle(length, range(self.trials))),
            ("closed_book", 0, made.closed_book(length, range(self.trials))),
        ):
            report(result, self._where(protocol, trials, K), scores(trials), {})

    def _moved(self, made: Documents, protocol: str, length: int, gate: bool, result: Result, scores: Score) -> None:
        correct = []
        for depth in self.depths:
            trials = made.moved(length, depth, ORDERS[protocol], range(self.trials))
            where, found = self._where(protocol, trials, made.template.most(length)), scores(trials)
            report(result, where | {"depth": depth}, found, trials.places)
            correct.append(found["accuracy"])
        report_curve(result, where, np.stack(correct, 1), self.depths)
        result.rows.append(where | {"metric": "guess", "value": guess(trials.values.shape[1], len(made.vocabulary.value_ids))})
        if gate and protocol == "ordered":
            report_gate(result, where, np.stack(correct, 1))

    def _retrieved(self, made: Documents, top: int, result: Result, scores: Score) -> None:
        trials, handed = made.retrieved(top, self.hit, range(self.trials))
        where = self._where("retrieved", trials, top)
        report(result, where, scores(trials) | {"handed": handed}, {})

    @staticmethod
    def _where(protocol: str, trials: Trials, documents: int) -> dict:
        return {"protocol": protocol, "length": trials.tokens.shape[1], "axis": "documents", "at": documents}
