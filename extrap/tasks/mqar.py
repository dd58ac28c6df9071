"""Multi-query associative recall (MQAR): several keys of one context, each asked once among noise.

    pairs-P   P records; longer contexts have more noise and later questions

Zoology asks 4 records in 64 tokens, 8 in 128, 16 in 256 and 64 in 512, which a model without
attention has to hold in a state of fixed size: `data.length=64 task.mqar.multiples=[1]
task.mqar.pairs=[4]` is the first of these.
Sequences: extrap.data.mqar. Source: arXiv 2312.04927.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from extrap.data.mqar import CODE, check_pairs, draw_associations
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.scoring.answers import right
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.retrieval import Exam, Retrieval
from extrap.utils.bounds import Count, Fraction, OneOrMore


@dataclass(frozen=True, kw_only=True)
class MultiQueryRecall(Retrieval):
    """Accuracy by length, a protocol for each number of `pairs`.

    Args:
        trials: contexts of each cell
        pairs: numbers of records
        power: of the gaps before questions, as in training

    The other options: extrap.tasks.scoring.retrieval.

    Metrics:

    accuracy    share of right answers, bootstrap over contexts, whose questions are not independent
    guess       of naming the value of a record at random, 1 / P; whoever leaves out values that
                were answered already has the mean of 1, 1 / 2, ... 1 / P

    Items: accuracy of each context, its share of right answers.
    """

    name: ClassVar[str] = "mqar"
    inner: ClassVar[bool] = True

    pairs: OneOrMore[Count] = (2, 4)
    power: Fraction = 0.01

    def forms(self, vocabulary) -> dict[str, int]:
        return {f"pairs-{pairs}": pairs for pairs in self.pairs}

    def check_forms(self, vocabulary: Vocabulary, lengths: list[int]) -> None:
        for pairs in self.pairs:
            check_pairs("task.mqar", vocabulary, pairs, lengths[0])

    def measure(self, cells: Recorder, form: int, exam: Exam) -> np.ndarray:
        of_pairs = replace(exam, items=[form])
        (context,) = of_pairs.contexts(CODE, exam.length)
        tokens, asked = draw_associations(context, self.trials, form, self.power)
        full, _ = exam.named(tokens, asked, exam.vocabulary.value_ids)
        answers = np.take_along_axis(tokens, asked + 1, 1)
        correct = right(full[..., 0], answers)
        cells.share("accuracy", correct)
        cells.value("guess", 1 / form)
        cells.scores("accuracy", correct.mean(1))
        cells.drawn(tokens, asked)
        return correct
