"""Key-value retrieval as a test: one record is moved through the context, everything else stays.

    records   BOS  k v  k v ... K V ... k v  K      all slots hold records: more length is more records and more distance
    padded    BOS  text  k v  text  K V  text  K    a fixed number of records in running text: more length is distance alone

The gold record K V is taken out and put back at each depth, so that across depths the other records (distractors), their order
and the filler are the same token for token. The query key K is the last token and V the right next one. Trial i of a length is
the same whatever other trials, lengths or depths are asked for. Layouts: arXiv 2307.03172 (records), RULER, arXiv 2404.06654
(padded).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from extrap.data.keyvalue import check_keys, most
from extrap.data.text import windows
from extrap.data.vocabulary import Vocabulary
from extrap.data.trials.digest import Placed
from extrap.utils.errors import UserError

DEPTHS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True)
class Trials(Placed):
    """n trials of one length and depth.

    tokens (n, length) int64; answers (n,) value ids; values (n, records) all value ids in the context; index: of the gold record
    among the records, from 0; distance: tokens from the gold key to the query.
    """

    tokens: np.ndarray
    answers: np.ndarray
    values: np.ndarray
    index: int
    distance: int


class Layout(ABC):
    """Where records and filler stand in a context; `code` keeps the random draws of layouts apart."""

    code: int

    @abstractmethod
    def records(self, length: int) -> int:
        """Number of records in a context of `length` tokens."""

    @abstractmethod
    def distractors(self, length: int) -> np.ndarray:
        """Offsets of the distractors in the body: the length - 4 tokens between BOS and query once the gold record is out."""

    @abstractmethod
    def gold(self, length: int, depth: float) -> int:
        """Offset in the body at which the gold record is put back."""

    def check(self, vocabulary: Vocabulary, length: int) -> None:
        """Raises UserError when a context of that length cannot be made."""
        check_keys(vocabulary, self.records(length), length)

    def trials(
        self, vocabulary: Vocabulary, stream: np.ndarray, seed: int, length: int, depth: float, items: Iterable[int] = range(200)
    ) -> Trials:
        """The trials numbered `items` at a length and a depth in [0, 1], filler from `stream`, a pure function of the arguments."""
        self.check(vocabulary, length)
        n, slots, at = self.records(length), self.distractors(length), self.gold(length, depth)
        drawn = [self._draw(np.random.default_rng((seed, self.code, length, i)), vocabulary, stream, length, n) for i in items]
        keys, values, filler = (np.stack(arrays) for arrays in zip(*drawn, strict=True))
        body = np.empty((len(keys), length - 4), np.int64)
        body[:, slots], body[:, slots + 1] = keys[:, 1:], values[:, 1:]
        body[:, np.delete(np.arange(length - 4), [*slots, *slots + 1])] = filler
        bos = np.full((len(body), 1), vocabulary.bos)
        tokens = np.concatenate([bos, body[:, :at], keys[:, :1], values[:, :1], body[:, at:], keys[:, :1]], axis=1)
        return Trials(tokens, values[:, 0], values, index=int((slots < at).sum()), distance=length - 2 - at)

    @staticmethod
    def _draw(rng: np.random.Generator, vocabulary: Vocabulary, stream: np.ndarray, length: int, n: int) -> tuple[np.ndarray, ...]:
        """Keys and values, gold first, and all of the filler."""
        keys = vocabulary.key(rng.permutation(vocabulary.keys)[:n])
        values = vocabulary.value(rng.integers(vocabulary.values, size=n))
        return keys, values, windows(rng, stream, 1, length - 2 - 2 * n)[0]


class Records(Layout):
    """Length // 2 - 1 records, one token of filler in front where the length is odd. Depth is the index of the record over the last."""

    code = 0

    def records(self, length: int) -> int:
        return most(length)

    def distractors(self, length: int) -> np.ndarray:
        return length % 2 + 2 * np.arange(most(length) - 1)

    def gold(self, length: int, depth: float) -> int:
        return length % 2 + 2 * round(depth * (most(length) - 1))


@dataclass(frozen=True)
class Padded(Layout):
    """`pairs` records, the distractors with equal gaps of text. Depth is the place of the record in tokens over the last possible one.

    A place that would part a distractor is moved in front of it, by one token.
    """

    pairs: int
    code = 1

    def records(self, length: int) -> int:
        return self.pairs

    def check(self, vocabulary: Vocabulary, length: int) -> None:
        super().check(vocabulary, length)
        if self.pairs < 1 or self.pairs > most(length):
            raise UserError(f"pairs={self.pairs}: a context of {length} tokens holds 1 to {most(length)} records; give a number in between")

    def distractors(self, length: int) -> np.ndarray:
        filler = length - 2 - 2 * self.pairs
        j = np.arange(self.pairs - 1)
        return (j + 1) * filler // self.pairs + 2 * j

    def gold(self, length: int, depth: float) -> int:
        at = round(depth * (length - 4))
        return at - 1 if at - 1 in self.distractors(length) else at
