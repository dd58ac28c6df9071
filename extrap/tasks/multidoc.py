"""Multi-document question answering: one of K short documents holds the answer to a question at the
end of the context.

    ordered, shuffled    a context full of documents, the gold one moved through it; hard
                         distractors first, or in no order
    oracle, closed_book  the gold document alone, and no document: the best possible accuracy, and
                         the accuracy of a guess
    retrieved            the first K documents of a weak retriever, which may miss the gold one:
                         does a model gain from more documents?

Documents, questions and test contexts: extrap.data.facts, extrap.data.multidoc. Source: arXiv
2307.03172. The documents there are passages of an encyclopedia; here they are facts (subject,
relation, object) in a template, which a small model can learn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Interval

from extrap.data.facts import RELATIONS, Template
from extrap.data.multidoc import Documents
from extrap.data.trials.base import DEPTHS, Questions, guess
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import AtLengths, Counter, Model, Progress, Result
from extrap.tasks.scoring.answers import SEED, score
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.retrieval import check_depths, curve
from extrap.utils.bounds import Count, Depths, Different, Fraction, Multiples
from extrap.utils.errors import UserError

Score = Callable[[Questions], dict[str, np.ndarray]]
ORDERS = {"ordered": True, "shuffled": False}


@dataclass(frozen=True, kw_only=True)
class MultiDoc(AtLengths):
    """Accuracy by place of the gold document and number of documents K. An answer is one token.

    multiples: evaluated lengths over the training length, 1 among them; depths: of the gold
    document, index over K - 1, in [0, 1], with 0, 1 and one in [.25, .75]; trials: of each cell;
    facts: of a document; top: numbers of documents that a retriever hands over, whose gold document
    has rank j = 1, 2, ... with probability hit (1 - hit)^(j - 1); batch_tokens: tokens per forward,
    which changes speed and memory only. Rows have K as axis `documents`. Metrics:

    accuracy, restricted, format, primacy, recency, u_depth, tilt, mid, guess, chance
              as in extrap.tasks.kv
    handed    of the protocol retrieved: share of the trials whose gold document is handed over; no
              reader can do better by reading
    gate      mean accuracy over depths of `ordered` at the training length; below 0.9 every row has
              the status `not trained`
    """

    name: ClassVar[str] = "multidoc"
    words: ClassVar[bool] = True
    needs_one: ClassVar[str] = "the run learned the task"
    within: ClassVar[bool] = True

    multiples: Multiples = (1, 2, 4)
    depths: Depths = DEPTHS
    trials: Count = 200
    facts: Annotated[int, Interval(ge=1, le=len(RELATIONS))] = 1
    top: Annotated[Sequence[Annotated[int, Ge(1)]], Different()] = (1, 2, 3, 5, 10, 20, 40)
    hit: Fraction = 0.1
    batch_tokens: Count = 4096

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        super().check(corpus, vocabulary, train_length)
        check_depths(self.option("depths"), self.depths)
        if self.top and max(self.top) >= vocabulary.keys:
            raise UserError(
                self.option("top"),
                problem=f"expected numbers below data.vocabulary.keys={vocabulary.keys}",
                remedy="give smaller ones",
            )
        template, extra = Template.of(vocabulary, self.facts), vocabulary.turns.extra
        ns = self.lengths(train_length)
        if template.most(ns[0] - extra) < 2:
            needed = 1 + 2 * template.width + template.question_width + extra
            raise UserError(
                self.option("facts"),
                problem=f"two documents and a question need {needed} tokens",
                remedy="train with a longer length, or leave the smallest multiple out",
            )
        if (most := template.most(ns[-1] - extra)) > vocabulary.keys:
            raise UserError(
                self.option("multiples"),
                problem=(
                    f"{ns[-1]} tokens hold {most} documents with a subject each, but "
                    f"data.vocabulary.keys={vocabulary.keys}"
                ),
                remedy="give smaller multiples, or train with more keys",
            )
        corpus.check("validation", ns[-1])

    def run(
        self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress
    ) -> Result:
        documents = Documents(vocabulary, corpus.stream("validation"), self.facts, SEED)
        ns, width = self.lengths(train_length), documents.template.width
        shown = self.gate_length(train_length)
        plan = [(2 * width, partial(self._lines, documents, shown))]
        plan += [
            (n * len(self.depths), partial(self._moved, documents, protocol, n, n == shown))
            for n in ns
            for protocol in ORDERS
        ]
        plan += [(k * width, partial(self._retrieved, documents, k)) for k in sorted(self.top)]
        recorder = Recorder()
        counter = Counter(progress, self.trials * sum(cost for cost, _ in plan))
        scores = partial(score, model, vocabulary=vocabulary, batch_tokens=self.batch_tokens)
        for cost, measure in plan:
            with recorder.within_range() as part:
                measure(part, scores)
            counter(cost * self.trials)
        recorder.value("chance", 1 / vocabulary.values)
        return recorder.result(bool(recorder.passed))

    def _lines(self, documents: Documents, length: int, recorder: Recorder, scores: Score) -> None:
        """What a reader gets at best and what can be guessed, on the questions of the training
        length.
        """
        for protocol, K, questions in (
            ("oracle", 1, documents.oracle(length, range(self.trials))),
            ("closed_book", 0, documents.closed_book(length, range(self.trials))),
        ):
            _cell(recorder, protocol, questions, K).answers(scores(questions), {})

    def _moved(
        self,
        documents: Documents,
        protocol: str,
        length: int,
        gate: bool,
        recorder: Recorder,
        scores: Score,
    ) -> None:
        def asked(depth: float) -> Questions:
            return documents.moved(length, depth, ORDERS[protocol], range(self.trials))

        first = asked(self.depths[0])
        cells = _cell(recorder, protocol, first, documents.most(length))
        correct = curve(cells, self.depths, asked, scores)
        cells.value("guess", guess(first.values.shape[1], documents.vocabulary.values))
        if gate and protocol == "ordered":
            cells.share("gate", correct)

    def _retrieved(self, documents: Documents, top: int, recorder: Recorder, scores: Score) -> None:
        questions, handed = documents.retrieved(top, self.hit, range(self.trials))
        cell = _cell(recorder, "retrieved", questions, top)
        cell.answers(scores(questions) | {"handed": handed}, {})


def _cell(recorder: Recorder, protocol: str, questions: Questions, documents: int) -> Recorder:
    length = questions.tokens.shape[1]
    return recorder.at(protocol=protocol, length=length, axis="documents", at=documents)
