"""Key-value retrieval as a test: one record is moved through the context, everything else stays.

    records   BOS  k v  k v ... K V ... k v  K      all slots hold records: more length is more
              records and more distance
    padded    BOS  text  k v  text  K V  text  K    a fixed number of records in running text: more
              length is distance alone

The gold record K V is taken out and put back at each depth, so that across depths the other records
(distractors), their order and the filler are the same token for token. The query key K is the last
token and V the right next one. Trial i of a length is the same whatever other trials, lengths or
depths are asked for. Sources: arXiv 2307.03172 (records), RULER, arXiv 2404.06654 (padded).
"""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.keyvalue import check_keys, most
from extrap.data.text import windows
from extrap.data.trials.base import Form, Questions
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError


class PairForm(Form):
    """Records `k v` and filler; `code` keeps the random draws of forms apart."""

    code: ClassVar[int]

    @abstractmethod
    def distractors(self, length: int) -> np.ndarray:
        """Offsets of the distractors in the body: the length - 4 tokens between BOS and query once
        the gold record is out.
        """

    @abstractmethod
    def gold(self, length: int, depth: float) -> int:
        """Offset in the body at which the gold record is put back."""

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        check_keys(vocabulary, self.records(length), length)

    def questions(
        self,
        vocabulary: Vocabulary,
        stream: np.ndarray,
        seed: int,
        length: int,
        depth: float,
        items: Iterable[int],
    ) -> Questions:
        n = self.records(length)
        slots = self.distractors(length)
        at = self.gold(length, depth)
        drawn = [
            self._draw(
                np.random.default_rng((seed, self.code, length, i)), vocabulary, stream, length, n
            )
            for i in items
        ]
        keys, values, filler = (np.stack(arrays) for arrays in zip(*drawn, strict=True))
        body = np.empty((len(keys), length - 4), np.int64)
        body[:, slots] = keys[:, 1:]
        body[:, slots + 1] = values[:, 1:]
        body[:, np.delete(np.arange(length - 4), [*slots, *slots + 1])] = filler
        bos = np.full((len(body), 1), vocabulary.bos)
        tokens = np.concatenate(
            [bos, body[:, :at], keys[:, :1], values[:, :1], body[:, at:], keys[:, :1]], axis=1
        )
        return Questions(
            tokens,
            values[:, :1],
            values[:, :, None],
            index=int((slots < at).sum()),
            distance=length - 2 - at,
        )

    @staticmethod
    def _draw(
        rng: np.random.Generator, vocabulary: Vocabulary, stream: np.ndarray, length: int, n: int
    ) -> tuple[np.ndarray, ...]:
        """Keys and values, gold first, and all of the filler."""
        keys = vocabulary.key(rng.permutation(vocabulary.keys)[:n])
        values = vocabulary.value(rng.integers(vocabulary.values, size=n))
        return keys, values, windows(rng, stream, 1, length - 2 - 2 * n)[0]


class Records(PairForm):
    """Length // 2 - 1 records, one token of filler in front where the length is odd. Depth is the
    index of the record over the last.
    """

    code = 0

    def records(self, length: int) -> int:
        return most(length)

    def distractors(self, length: int) -> np.ndarray:
        return length % 2 + 2 * np.arange(most(length) - 1)

    def gold(self, length: int, depth: float) -> int:
        return length % 2 + 2 * round(depth * (most(length) - 1))


@dataclass(frozen=True)
class Padded(PairForm):
    """`pairs` records, the distractors with equal gaps of text. Depth is the place of the record in
    tokens over the last possible one.

    A place that would part a distractor is moved in front of it, by one token.
    """

    pairs: int
    code = 1

    def records(self, length: int) -> int:
        return self.pairs

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        if self.pairs > most(length):
            raise UserError(
                f"{option}.pairs={self.pairs}: a context of {length} tokens holds at most "
                f"{most(length)} records; give fewer, or no shorter lengths"
            )
        super().check(option, vocabulary, length)

    def distractors(self, length: int) -> np.ndarray:
        filler = length - 2 - 2 * self.pairs
        j = np.arange(self.pairs - 1)
        return (j + 1) * filler // self.pairs + 2 * j

    def gold(self, length: int, depth: float) -> int:
        at = round(depth * (length - 4))
        return at - 1 if at - 1 in self.distractors(length) else at
