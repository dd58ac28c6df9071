"""A part of the training data: it draws sequences and marks the tokens that the loss counts."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Interval

from extrap.data.context import Context
from extrap.data.vocabulary import Vocabulary

Size = Annotated[int, Interval(ge=0, le=2**20)]  # more sequences fill any memory
Weight = Annotated[float, Gt(0)]
EARLY = 2
"""Mark of a token that is scored twice: by the whole model, and by its layers before the last."""
Drawn = tuple[np.ndarray, np.ndarray]
"""Sequences (size, length + 1) int64 that begin with BOS, and which of their tokens 1 ... length
are scored, (size, length): bool, or 0, 1 and EARLY."""


@dataclass(frozen=True, kw_only=True)
class Part(ABC):
    """Training sequences of one kind.

    Args:
        size: sequences per step, 0 leaves the part out
        weight: of the mean loss of their scored tokens in the sum
    """

    size: Size = 64
    weight: Weight = 2.0

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        """Raises UserError, naming the option, if the sequences do not fit into `length` tokens or
        the vocabulary.
        """
        return None

    @abstractmethod
    def draw(self, context: Context, difficulty: float) -> Drawn:
        """Draws the sequences of one step, a pure function of the arguments.

        difficulty: 0 easy ... 1 as hard as the questions after training (data/curriculum.py).
        """


def answered(front: np.ndarray, questions: np.ndarray, saying: int) -> Drawn:
    """Returns a row with questions (q, w) behind its front, and which of its tokens are answers:
    the last `saying` tokens of each question.
    """
    scored = np.zeros(questions.shape, bool)
    scored[:, -saying:] = True
    row = np.concatenate([front, questions.ravel()])
    before = np.zeros(len(front), bool)
    return row, np.concatenate([before, scored.ravel()])


def stacked(rows: Iterable[tuple[np.ndarray, np.ndarray]], length: int) -> Drawn:
    """Returns rows (tokens, which are scored), each of length + 1 tokens or more, as a batch."""
    tokens, marks = zip(*rows, strict=True)
    sequences = np.stack([row[: length + 1] for row in tokens])
    scored = np.stack([row[1 : length + 1] for row in marks])
    return sequences, scored
