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
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from extrap.data.keyvalue import check_keys
from extrap.data.text import windows
from extrap.data.trials.base import Form, OneQuestion
from extrap.data.vocabulary import RecordLayout, Vocabulary
from extrap.utils.errors import UserError


@dataclass(frozen=True)
class PairForm(Form):
    """Records and filler."""

    layout: RecordLayout = field(default=RecordLayout(), kw_only=True)

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

    def question(
        self,
        rng: np.random.Generator,
        vocabulary: Vocabulary,
        stream: np.ndarray,
        length: int,
        depth: float,
    ) -> OneQuestion:
        n = self.records(length)
        slots = self.distractors(length)
        at = self.gold(length, depth)
        keys = vocabulary.key(rng.permutation(vocabulary.keys)[:n])
        values = vocabulary.value(rng.integers(vocabulary.values, size=n))
        records = self.layout.records(keys, values)  # (n, width), gold first
        filler = length - 1 - self.layout.query_width - self.layout.width * n
        body = np.empty(self.body(length), np.int64)
        text = np.ones(len(body), bool)
        taken = slots[:, None] + np.arange(self.layout.width)
        text[taken] = False
        body[taken] = records[1:]
        body[text] = windows(rng, stream, 1, filler)[0]
        query = self.layout.queries(keys[0])
        return OneQuestion(
            np.concatenate([[vocabulary.bos], body[:at], records[0], body[at:], query]),
            values[:1],
            values[:, None],
            int((slots < at).sum()),
            length - self.layout.query_width - 1 - at,
            self.layout.query_width,
        )


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
