"""Questions about one record of a context, whatever the form of context, record and answer."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from extrap.data.vocabulary import Vocabulary
from extrap.data.trials.digest import Placed


@dataclass(frozen=True)
class Questions(Placed):
    """n questions of one length and depth whose answers have a tokens.

    tokens (n, length) int64: what is read, the contexts and all but the last token of each answer, so that the last a predictions
    are the answer; answers (n, a); values (n, records, w): those of all records, w tokens each, the last w of an answer being one;
    index: of the gold record among the records, from 0; distance: tokens from the gold record to the last query.
    """

    tokens: np.ndarray
    answers: np.ndarray
    values: np.ndarray
    index: int
    distance: int


class Form(ABC):
    """A way to write records and to ask for one of them."""

    @abstractmethod
    def records(self, length: int) -> int:
        """Number of records when `length` tokens are read."""

    @abstractmethod
    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        """Raises UserError, naming the option, where a question of that length cannot be made."""

    @abstractmethod
    def questions(
        self, vocabulary: Vocabulary, stream: np.ndarray, seed: int, length: int, depth: float, items: Iterable[int]
    ) -> Questions:
        """The questions numbered `items` at a length and a depth in [0, 1]: a pure function of the arguments.

        The other records and the filler are the same at every depth, token for token.
        """

    @abstractmethod
    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        """Expected accuracy of answering with a record at random."""

    def chance(self, vocabulary: Vocabulary) -> float:
        """Accuracy of naming an answer at random."""
        return 1 / vocabulary.values
