"""Training strings of symbols, each with an answer; the tasks are in extrap.data.strings."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.context import Context
from extrap.data.part import Drawn, Part, Size, Weight
from extrap.data.vocabulary import Vocabulary
from extrap.utils.bounds import Count, at_least
from extrap.utils.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Algorithmic(Part):
    """Training strings of one task.

    Args:
        longest: symbols of a string
    """

    size: Size = 32
    weight: Weight = 1.0
    longest: Count = 20

    marks: ClassVar[int] = 7
    """Key ids that the marks are among."""
    least_values: ClassVar[int] = 2

    @abstractmethod
    def string(self, rng: np.random.Generator, vocabulary: Vocabulary, n: int) -> Drawn:
        """Draws one string of n symbols with its answer, (t,) tokens, and which of them belong to
        an answer, (t,). A test asks for the last of the answers.
        """

    @abstractmethod
    def width(self, n: int) -> int:
        """Returns the tokens of a string of n symbols and its answer."""

    def answer_width(self, n: int) -> int:
        """Returns the tokens of the answer in a test."""
        return 1

    def _string(self, tokens: Sequence[int] | np.ndarray, n: int) -> Drawn:
        """Returns a string whose last `answer_width(n)` tokens are its answer."""
        start = len(tokens) - self.answer_width(n)
        return np.array(tokens), np.arange(len(tokens)) >= start

    def chance(self, vocabulary: Vocabulary, n: int) -> float:
        """Returns the exact match of always saying the most frequent answer."""
        return 0.5

    def most(self, vocabulary: Vocabulary) -> int:
        """Returns the symbols of the longest string for which there are ids."""
        return 2**62

    @classmethod
    def check_marks(cls, option: str, vocabulary: Vocabulary) -> None:
        """Raises UserError if the vocabulary has too few ids."""
        for kind, least in (("keys", cls.marks), ("values", cls.least_values)):
            why = f"for the marks and symbols of {option}"
            at_least(f"data.vocabulary.{kind}", getattr(vocabulary, kind), least, why)

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        self.check_marks(option, vocabulary)
        if self.width(self.longest) > length:
            problem = f"the longest string and its answer are {self.width(self.longest)} tokens"
            remedy = f"give fewer symbols, or raise data.length={length}"
            raise UserError(f"{option}.longest", self.longest, problem, remedy)

    def draw(self, context: Context, difficulty: float) -> Drawn:
        """Draws the sequences of one step; text before and after a string is not scored."""
        rng, vocabulary = context.rng, context.vocabulary
        bos = np.full((self.size, 1), vocabulary.bos)
        text = context.texts(self.size, context.length)
        sequences = np.concatenate([bos, text], 1)
        scored = np.zeros(sequences.shape, bool)
        for row, score in zip(sequences, scored, strict=True):
            symbols = int(rng.integers(1, self.longest + 1))
            tokens, answers = self.string(rng, vocabulary, symbols)
            start = 1 + rng.integers(context.length - len(tokens) + 1)
            place = slice(start, start + len(tokens))
            row[place], score[place] = tokens, answers
        return sequences, scored[:, 1:]


@dataclass(frozen=True, kw_only=True)
class Rewritten(Algorithmic):
    """x1 ... xn from all symbols between two marks; the answer is n symbols and the mark."""

    mark: ClassVar[int]

    @abstractmethod
    def answer(self, symbols: np.ndarray) -> np.ndarray:
        """Returns the symbols of the answer."""

    def string(self, rng: np.random.Generator, vocabulary: Vocabulary, n: int) -> Drawn:
        symbols = vocabulary.value(rng.integers(vocabulary.values, size=n))
        mark = vocabulary.key(self.mark)
        return self._string([mark, *symbols, mark, *self.answer(symbols), mark], n)

    def width(self, n: int) -> int:
        return 2 * n + 3

    def answer_width(self, n: int) -> int:
        return n + 1

    def chance(self, vocabulary: Vocabulary, n: int) -> float:
        return float(vocabulary.values) ** -n


@dataclass(frozen=True, kw_only=True)
class Judged(Algorithmic):
    """n bits between two marks; the answer is one bit."""

    mark: ClassVar[int]

    @abstractmethod
    def answer(self, bits: np.ndarray) -> int:
        """Returns the answer, 0 or 1."""

    def string(self, rng: np.random.Generator, vocabulary: Vocabulary, n: int) -> Drawn:
        bits = rng.integers(2, size=n)
        mark = vocabulary.key(self.mark)
        answer = vocabulary.value(self.answer(bits))
        return self._string([mark, *vocabulary.value(bits), mark, answer], n)

    def width(self, n: int) -> int:
        return n + 3
