"""Key-value retrieval as a test: one record is moved through the context, everything else stays.

    records   BOS  k v  k v ... K V ... k v  K      all slots hold records: more length is more
              records and more distance
    padded    BOS  text  k v  text  K V  text  K    a fixed number of records in running text: more
              length is distance alone

The gold record K V is taken out and put back at each depth, so that across depths the other records
(distractors), their order and the filler are the same token for token. The query key K is the last
token and V the right next one; in the words of a tokenizer a record is a line `k: v`, and the query
`k:` (RecordLayout). Trial i of a length is the same whatever other trials, lengths or depths are
asked for. Sources: arXiv 2307.03172 (records), RULER, arXiv 2404.06654 (padded).
"""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from extrap.data.keyvalue import check_keys
from extrap.data.text import windows
from extrap.data.trials.base import Form, Questions
from extrap.data.vocabulary import RecordLayout, Vocabulary
from extrap.utils.errors import UserError


@dataclass(frozen=True)
class PairForm(Form):
    """Records and filler; `code` keeps the random draws of forms apart."""

    layout: RecordLayout = field(default=RecordLayout(), kw_only=True)

    code: ClassVar[int]

    def written(self, layout: RecordLayout) -> Self:
        return replace(self, layout=layout)

    def body(self, length: int) -> int:
        """Tokens between BOS and the query once the gold record is out."""
        return length - 1 - self.layout.query_width - self.layout.width

    @abstractmethod
    def distractors(self, length: int) -> np.ndarray:
        """Offsets of the distractors in the body."""

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
        records = self.layout.records(keys, values)  # (trials, n, width)
        room = self.body(length)
        body = np.empty((len(keys), room), np.int64)
        taken = (slots[:, None] + np.arange(self.layout.width)).ravel()
        body[:, taken] = records[:, 1:].reshape(len(keys), -1)
        body[:, np.delete(np.arange(room), taken)] = filler
        bos = np.full((len(body), 1), vocabulary.bos)
        query = self.layout.queries(keys[:, 0])
        tokens = np.concatenate([bos, body[:, :at], records[:, 0], body[:, at:], query], axis=1)
        return Questions(
            tokens,
            values[:, :1],
            values[:, :, None],
            index=int((slots < at).sum()),
            distance=length - self.layout.query_width - 1 - at,
        )

    def _draw(
        self,
        rng: np.random.Generator,
        vocabulary: Vocabulary,
        stream: np.ndarray,
        length: int,
        n: int,
    ) -> tuple[np.ndarray, ...]:
        """Keys and values, gold first, and all of the filler."""
        keys = vocabulary.key(rng.permutation(vocabulary.keys)[:n])
        values = vocabulary.value(rng.integers(vocabulary.values, size=n))
        filler = length - 1 - self.layout.query_width - self.layout.width * n
        return keys, values, windows(rng, stream, 1, filler)[0]


@dataclass(frozen=True)
class Records(PairForm):
    """As many records as fit, what is left over is filler in front. Depth is the index of the
    record over the last.
    """

    code = 0

    def records(self, length: int) -> int:
        return self.layout.most(length)

    def distractors(self, length: int) -> np.ndarray:
        return self._over(length) + self.layout.width * np.arange(self.records(length) - 1)

    def gold(self, length: int, depth: float) -> int:
        index = round(depth * (self.records(length) - 1))
        return self._over(length) + self.layout.width * index

    def _over(self, length: int) -> int:
        """Tokens that hold no record."""
        return (length - 1 - self.layout.query_width) % self.layout.width


@dataclass(frozen=True)
class Padded(PairForm):
    """`pairs` records, the distractors with equal gaps of text. Depth is the place of the record in
    tokens over the last possible one.

    A place that would part a distractor is moved in front of it.
    """

    pairs: int
    code = 1

    def records(self, length: int) -> int:
        return self.pairs

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        if self.pairs > (most := self.layout.most(length)):
            raise UserError(
                f"{option}.pairs={self.pairs}: a context of {length} tokens holds at most "
                f"{most} records; give fewer, or no shorter lengths"
            )
        super().check(option, vocabulary, length)

    def distractors(self, length: int) -> np.ndarray:
        width = self.layout.width
        filler = length - 1 - self.layout.query_width - width * self.pairs
        j = np.arange(self.pairs - 1)
        return (j + 1) * filler // self.pairs + width * j

    def gold(self, length: int, depth: float) -> int:
        at = round(depth * self.body(length))
        slots = self.distractors(length)
        parted = slots[(slots < at) & (at < slots + self.layout.width)]
        return int(parted[0]) if len(parted) else at
