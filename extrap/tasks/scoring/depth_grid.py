"""What tasks share that ask for one record of a context, over a grid of protocol, length and depth.

An answer of a tokens is scored in one forward pass: the context is read together with all but the last token of the answer, and the
answer is right where each of its tokens is the most likely one, which is what greedy decoding says as well.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from extrap.tasks.scoring.single_token import SEED, check_depths, mark_each, report, report_curve, report_gate
from extrap.data.trials.base import Form, Questions
from extrap.data.trials.keyvalue import DEPTHS
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError
from extrap.model.scheme import OutOfRange
from extrap.tasks.base import Model, Progress, Result, Task, batches, check_at_least, check_multiples, lengths


class Grid(Task):
    """multiples: evaluated lengths over the training length, 1 among them; depths: in [0, 1], with 0, 1 and one in [.25, .75];
    trials: of each protocol, length and depth; batch_tokens: tokens per forward, which changes speed and memory only.

    Rows, of every protocol by itself: accuracy, restricted and format of each depth with Wilson intervals; primacy, recency, u_depth,
    tilt and mid; gate, below 0.9 of which the rows of the protocol have the status `not trained`; guess and chance. Their meaning is
    that of extrap.tasks.kv. Items: accuracy of each trial, index and distance of each cell.
    """

    name: str

    def __init__(
        self, multiples: Sequence[float] = (1, 2, 4, 8), depths: Sequence[float] = DEPTHS, trials: int = 200, batch_tokens: int = 4096
    ):
        self.multiples, self.depths, self.trials, self.batch_tokens = multiples, depths, trials, batch_tokens

    @abstractmethod
    def forms(self) -> dict[str, Form]:
        """The contexts that are asked about, by protocol."""

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        option = f"task.{self.name}"
        check_multiples(f"{option}.multiples", self.multiples, train_length)
        if 1 not in self.multiples:
            raise UserError(f"{option}.multiples={list(self.multiples)}: must hold 1, where it shows whether the run learned it")
        check_depths(f"{option}.depths", self.depths, "record")
        check_at_least(f"{option}.trials", self.trials, 1)
        check_at_least(f"{option}.batch_tokens", self.batch_tokens, 1)
        for form in self.forms().values():
            for length in (train_length, max(lengths(self.multiples, train_length))):
                form.check(option, vocabulary, length)
        corpus.check("validation", max(lengths(self.multiples, train_length)))

    def run(self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress) -> Result:
        plan = [(protocol, form, n) for protocol, form in self.forms().items() for n in sorted(lengths(self.multiples, train_length))]
        cost = [n * self.trials * len(self.depths) for _, _, n in plan]
        result, stream = Result(), corpus.stream("validation")
        for at, (protocol, form, n) in enumerate(plan):
            where, correct = {"protocol": protocol, "length": n}, []
            try:
                for i, depth in enumerate(self.depths):
                    asked = form.questions(vocabulary, stream, SEED, n, depth, range(self.trials))
                    scores = scored(model, asked, vocabulary, self.batch_tokens)
                    report(result, where | {"depth": depth}, scores, asked.places)
                    correct.append(scores["accuracy"])
                    progress(sum(cost[:at]) + (i + 1) * n * self.trials, sum(cost))
            except OutOfRange:
                continue
            report_curve(result, where, np.stack(correct, 1), self.depths)
            result.rows.append(where | {"metric": "guess", "value": form.guess(vocabulary, n)})
            if n == train_length:
                report_gate(result, where, np.stack(correct, 1))
        for protocol, form in self.forms().items():
            result.rows.append({"protocol": protocol, "metric": "chance", "value": form.chance(vocabulary)})
        progress(sum(cost), sum(cost))
        return mark_each(result)


@torch.no_grad()
def said(model: Model, tokens: np.ndarray, answers: np.ndarray, vocabulary: Vocabulary, batch_tokens: int) -> Iterator[np.ndarray]:
    """Batch by batch (2, n, a): the most likely tokens, over the whole vocabulary and among ids of the kind of the answer.

    The kinds are keys, values, and everything else. The answers (n, a) are what follows each of the last a tokens.
    """
    kinds = np.select([np.isin(answers[0], ids) for ids in (vocabulary.key_ids, vocabulary.value_ids)], [1, 2], 0)
    bounds = [(0, vocabulary.key_ids.start), *((ids.start, ids.stop) for ids in (vocabulary.key_ids, vocabulary.value_ids))]
    for rows in batches(len(tokens), tokens.shape[1], batch_tokens):
        logits = model(torch.from_numpy(tokens[rows]), last=answers.shape[1])
        of_kind = [logits[:, j, slice(*bounds[k])].argmax(-1) + bounds[k][0] for j, k in enumerate(kinds)]
        yield torch.stack([logits.argmax(-1), torch.stack(of_kind, 1)]).cpu().numpy()


def scored(model: Model, asked: Questions, vocabulary: Vocabulary, batch_tokens: int) -> dict[str, np.ndarray]:
    """{accuracy, restricted, format: (trials,) 0 or 1}."""
    full, restricted = np.concatenate([*said(model, asked.tokens, asked.answers, vocabulary, batch_tokens)], 1)
    width = asked.values.shape[2]
    return {
        "accuracy": (full == asked.answers).all(1),
        "restricted": (restricted == asked.answers).all(1),
        "format": (full[:, None, -width:] == asked.values).all(2).any(1),
    }
