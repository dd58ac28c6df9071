"""Chains of assignments: as training data and as a test.

    BOS  [text]  b a ;  a 7 ;  d c ;  c 2 ;   b 7  a 7  d 2 ...     b is a, a is 7: so b is 7, in
         one hop

A record `a 7 ;` gives a key its value, `b a ;` gives it the value of another key; a question is a
key, its answer the value at the end of the chain. Records stand in any order, so that a model
follows a chain from the question on, hop by hop. The semicolon marks the end of a record, and so
which key of two gets a value. Source: variable tracking of RULER, arXiv 2404.06654. One sequence of
26 tokens, 5 records, `_` a blank:

    <bos> _ f k170 k75 ; k248 v17 ; k75 v51 ; k126 k248 ; k102 k170 ; k126 v17 k126 v17 k248 v17
    k248 v17

In the words of a tokenizer a record is a line, ` stone: apple`, and a question a key and a colon.
"""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval

from extrap.data.context import Context
from extrap.data.scene import Scene, SceneForm, ScenePart
from extrap.data.trials.base import guess
from extrap.data.vocabulary import RecordLayout, Vocabulary

Hops = Annotated[int, Interval(ge=0, le=8)]


@dataclass(frozen=True)
class TraceForm(SceneForm):
    """hops: assignments between the asked key and its value. In a test all chains have so many,
    left-over records none; the record with the value moves, its chain and all others stay.
    """

    hops: int = 1
    layout: RecordLayout = field(default=RecordLayout(), kw_only=True)

    code: ClassVar[int] = 61

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.layout.width if self.layout.between else 3

    @property
    def asking(self) -> int:  # type: ignore[override]
        return self.layout.query_width

    def keys(self, records: int) -> int:
        return records

    def chains(self, records: int) -> list[int]:
        """Returns the hops of every chain of a test."""
        whole, left = divmod(records, self.hops + 1)
        return [self.hops] * whole + [0] * left

    @property
    def fewest_tested(self) -> int:
        """Two chains: with one there is nothing to choose from."""
        return 2 * (self.hops + 1)

    def scene(self, context: Context, records: int) -> Scene:
        chains: list[int] = []
        while (left := records - sum(chains) - len(chains)) > 0:
            chains.append(int(context.rng.integers(min(self.hops, left - 1) + 1)))
        rows, keys, values = self._draw(context, chains)
        return Scene(context.rng.permutation(rows), keys[:, None], values[:, None], values[:, None])

    def tested(self, context: Context, records: int, depth: float) -> Scene:
        chains = self.chains(records)
        rows, keys, values = self._draw(context, chains)
        index = round(depth * (records - 1))
        others = 1 + context.rng.permutation(records - 1)
        roots = np.cumsum([0, *(hops + 1 for hops in chains[:-1])])
        query = self.layout.queries(keys[self.hops : self.hops + 1])
        placed = np.insert(rows[others], index, rows[0], 0)
        return Scene(placed, query, values[None, :1], values[roots, None], index)

    def _draw(
        self, context: Context, chains: list[int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draws records (n, width), chain by chain, the record with the value first, and the key
        and the value of each.
        """
        keys = context.keys(sum(chains) + len(chains))
        each = context.values(len(chains))
        sizes = np.array(chains) + 1
        given = np.concatenate([keys[:1], keys[:-1]])
        given[np.cumsum(sizes) - sizes] = each
        if self.layout.between:
            return self.layout.records(keys, given), keys, each.repeat(sizes)
        stop = int(context.vocabulary.encoder(b";")[0][0])
        rows = np.stack([keys, given, np.full(len(keys), stop)], 1)
        return rows, keys, each.repeat(sizes)

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        """Returns the accuracy of naming the value of a random chain of so many hops; records that
        are left over are no candidates.
        """
        return guess(self.records(length) // (self.hops + 1), vocabulary.values)


@dataclass(frozen=True, kw_only=True)
class Trace(ScenePart):
    """Training sequences with chains of 0 to `hops` hops, every key of which is asked."""

    hops: Hops = 4

    @property
    def form(self) -> TraceForm:
        return TraceForm(self.hops)
