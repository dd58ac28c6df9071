"""Chains of assignments: as training data and as tests.

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

    BOS  [text]  b a ;  a 7 ;  d c ;  c 2 ;   b a 7  d c 2  a 7 ; ...    the chain is written out

An answer of the second kind is the whole chain, key by key. Each hop is then a look-up of its own,
since what was said is read for the next. In training the answers of shorter chains are filled with
semicolons; RULER asks for lists of this kind. One sequence of 32 tokens, 4 records, up to two hops:

    <bos> k62 v0 ; k222 k162 ; k91 v1 ; k162 v44 ; k91 v1 ; ; k162 v44 ; ; k222 k162 v44 ; k162 v44
    ; ; k222 k162 v44
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval

from extrap.data.context import Context
from extrap.data.encoder import ids_behind
from extrap.data.scene import Scene, SceneForm, ScenePart
from extrap.data.trials.base import guess
from extrap.data.vocabulary import RecordLayout, Vocabulary

Hops = Annotated[int, Interval(ge=0, le=8)]


def stop(vocabulary: Vocabulary) -> int:
    """Returns the id of the semicolon."""
    return int(ids_behind(vocabulary.encoder, "x", ";")[0])


@dataclass(frozen=True)
class TraceForm(SceneForm):
    """Chains of assignments whose end is asked for.

    Args:
        hops: assignments between the asked key and its value

    In a test all chains have so many, left-over records none; the record with the value moves, its
    chain and all others stay.
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

    @property
    def fewest_tested(self) -> int:
        """Two chains: with one there is nothing to choose from."""
        return 2 * (self.hops + 1)

    def scene(self, context: Context, records: int) -> Scene:
        chains: list[int] = []
        while (left := records - sum(chains) - len(chains)) > 0:
            longest = min(self.hops, left - 1)
            chains.append(int(context.rng.integers(longest + 1)))
        rows, keys, answers = self._draw(context, chains)
        return Scene(context.rng.permutation(rows), keys[:, None], answers, answers)

    def tested(self, context: Context, records: int, depth: float) -> Scene:
        whole, left = divmod(records, self.hops + 1)
        chains = [self.hops] * whole + [0] * left
        rows, keys, answers = self._draw(context, chains)
        index = round(depth * (records - 1))
        others = 1 + context.rng.permutation(records - 1)
        placed = np.insert(rows[others], index, rows[0], 0)
        ends = np.cumsum([hops + 1 for hops in chains]) - 1
        query = self.layout.queries(keys[ends[:1]])
        values = answers[ends]
        return Scene(placed, query, values[:1], values, index)

    def _draw(
        self, context: Context, chains: list[int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draws records (n, width), chain by chain, the record with the value first, and the key
        and the answer (saying,) of each.
        """
        keys = context.keys(sum(chains) + len(chains))
        sizes = np.array(chains) + 1
        roots = np.cumsum(sizes) - sizes
        given = np.concatenate([keys[:1], keys[:-1]])
        given[roots] = context.values(len(chains))
        answers = self._answers(context.vocabulary, given, roots.repeat(sizes))
        layout = self.layout
        if not layout.between:
            layout = RecordLayout(behind=(stop(context.vocabulary),))
        return layout.records(keys, given), keys, answers

    def _answers(self, vocabulary: Vocabulary, given: np.ndarray, roots: np.ndarray) -> np.ndarray:
        """Returns the answers (n, saying) about keys with these given tokens (n,), whose chains
        begin at these records (n,).
        """
        return given[roots, None]

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        """Returns the accuracy of naming the value of a random chain of so many hops; records that
        are left over are no candidates.
        """
        return guess(self.records(length) // (self.hops + 1), vocabulary.values)


@dataclass(frozen=True)
class TraceWrittenForm(TraceForm):
    """Chains of assignments whose answer is the chain, key by key.

    Args:
        hops: assignments between the asked key and its value; an answer has so many keys and a
            value
    """

    code: ClassVar[int] = 65

    @property
    def saying(self) -> int:  # type: ignore[override]
        return self.hops + 1

    def tested(self, context: Context, records: int, depth: float) -> Scene:
        made = super().tested(context, records, depth)
        whole = records // (self.hops + 1)  # no chain of what is left over has so many keys
        return replace(made, values=made.values[:whole])

    def _answers(self, vocabulary: Vocabulary, given: np.ndarray, roots: np.ndarray) -> np.ndarray:
        """Returns the tokens of each chain from its key on, semicolons after the value."""
        keys = np.arange(len(given))[:, None]
        chain = keys - np.arange(self.saying)
        inside = chain >= roots[:, None]
        return np.where(inside, given[chain.clip(0)], stop(vocabulary))

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        """Returns the accuracy of writing down a random chain; without a hop that is a value, which
        several chains may have.
        """
        if self.hops == 0:
            return super().guess(vocabulary, length)
        return 1 / (self.records(length) // (self.hops + 1))

    def chance(self, vocabulary: Vocabulary) -> float:
        return 1 / (vocabulary.keys**self.hops * vocabulary.values)


@dataclass(frozen=True, kw_only=True)
class Trace(ScenePart):
    """Training sequences of chains, every key of which is asked.

    Args:
        hops: of the longest chain; the shortest has 0
    """

    hops: Hops = 4

    @property
    def form(self) -> TraceForm:
        return TraceForm(self.hops)


@dataclass(frozen=True, kw_only=True)
class TraceWritten(Trace):
    """Training sequences of Trace in which every answer is a chain written out."""

    hops: Hops = 3

    @property
    def form(self) -> TraceForm:
        return TraceWrittenForm(self.hops)
