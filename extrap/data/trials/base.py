"""Questions about one record of a context, whatever the form of context, record and answer."""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import ClassVar, NamedTuple, Self

import numpy as np

from extrap.data.context import Context
from extrap.data.turns import Turns
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError

DEPTHS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
SEED = 0
"""Of every test: the same for every run, so that extrap compares runs trial by trial."""
FEWEST = 2
"""Records of a context at least: with one there is nothing to choose from."""


@dataclass(frozen=True)
class Trials:
    """The numbered trials of one length, in all that their draws follow from.

    Args:
        stream: (N,) tokens of running text
        items: the numbers; no trial depends on the others
    """

    vocabulary: Vocabulary
    stream: np.ndarray
    length: int
    items: Sequence[int]

    def shorter(self, tokens: int) -> Self:
        """Returns the same trials with so many tokens less."""
        return replace(self, length=self.length - tokens)

    def contexts(self, *code: int) -> Iterator[Context]:
        """Yields the context of each trial; code: keeps the draws of test sets apart."""
        for i in self.items:
            rng = np.random.default_rng((SEED, *code, i))
            yield Context(rng, self.vocabulary, self.stream, self.length)


class Questions(NamedTuple):
    """n questions of one length and depth whose answers have a tokens; one question has no axis n.

    Args:
        tokens: (n, length) int64, the contexts and all but the last token of each answer, so that
            the last a predictions are the answer
        answers: (n, a)
        values: (n, records, w) of all records, w tokens each, one of which is the last w tokens of
            the answer
        index: of the gold record among the records, from 0
        distance: tokens from the gold record to the last query, means if they differ by question
        tail: tokens at the end that ask and answer, in a dialogue the beginning of the next turn
    """

    tokens: np.ndarray
    answers: np.ndarray
    values: np.ndarray
    index: float
    distance: float
    tail: int = 0

    @property
    def places(self) -> dict[str, float]:
        """Returns the items of a cell: index, distance, and a checksum of the questions."""
        return {
            "index": self.index,
            "distance": self.distance,
            "drawn": checksum(self.tokens, self.answers),
        }

    @classmethod
    def stacked(cls, each: Iterable["Questions"]) -> "Questions":
        """Returns single questions, whose tail is the same, as one."""
        *arrays, index, distance, tail = zip(*each, strict=True)
        tokens, answers, values = map(np.stack, arrays)
        return cls(tokens, answers, values, _mean(index), _mean(distance), tail[0])

    def laid(self, turns: Turns) -> "Questions":
        """Returns the questions in the turns of a dialogue, `turns.extra` tokens longer."""
        tokens = turns.laid(self.tokens, self.tail)
        behind = len(turns.behind)
        return self._replace(tokens=tokens, distance=self.distance + behind)


def _mean(found: Sequence[float]) -> float:
    """Returns the mean; a number that is the same everywhere stays as it is."""
    return found[0] if len({*found}) == 1 else fmean(found)


class Form(ABC):
    """A layout of records and of a question about one of them. Lengths count the text without
    the turns of a dialogue.
    """

    code: ClassVar[int]
    """Keeps the random draws of forms apart."""

    @abstractmethod
    def records(self, length: int) -> int:
        """Returns the number of records in `length` tokens."""

    @abstractmethod
    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        """Raises UserError, naming the option, if no question of that length fits.

        option: the task, such as task.kv; the parameters of the form are options of it.
        """

    @abstractmethod
    def question(self, context: Context, depth: float) -> Questions:
        """Draws a question at a depth in [0, 1]. The draws are the same at every depth: the other
        records and the filler, token for token.
        """

    def questions(self, trials: Trials, depth: float) -> Questions:
        """Returns the questions of these trials at a depth, in the turns of the vocabulary, which
        their length counts: a pure function of the arguments.
        """
        turns = trials.vocabulary.turns
        contexts = trials.contexts(self.code, trials.length)
        made = (self.question(each.shorter(turns.extra), depth) for each in contexts)
        return Questions.stacked(question.laid(turns) for question in made)

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        """Returns the expected accuracy of answering with a random record."""
        return guess(self.records(length), vocabulary.values)

    def chance(self, vocabulary: Vocabulary) -> float:
        """Returns the accuracy of naming a random answer."""
        return 1 / vocabulary.values


def checksum(*drawn: np.ndarray) -> int:
    """Returns the CRC-32 of arrays of whole numbers, the same on every machine. Scores of two
    models are paired only where the checksums of their questions are the same.
    """
    written = [np.ascontiguousarray(array, "<i8").tobytes() for array in drawn]
    return zlib.crc32(b"".join(written))


def check_records(option: str, length: int, records: int) -> None:
    """Raises UserError if a context holds fewer than FEWEST records next to its question."""
    if records < FEWEST:
        problem = f"{length} tokens hold a question and {max(0, records)} of {FEWEST} records"
        raise UserError(option, problem=problem, remedy="give longer lengths")


def guess(records: int, values: int) -> float:
    """Returns the expected accuracy of naming the value of a random record: 1/k + (1 - 1/k)/values
    with k records.
    """
    return 1 / records + (1 - 1 / records) / values


def guess_in_turn(records: int, queries: int, values: int) -> float:
    """Returns the mean of `guess` over several queries of one context: each query leaves out the
    records of the earlier answers, so k, k - 1, ... records.
    """
    return sum(guess(records - j, values) for j in range(queries)) / queries
