"""Records asked for under other names: as training data and as a test without literal overlap.

    BOS  [text]  k v  k v ... k v    ? k v   ? a v   ? b v    = b a   = a k

Every name k has an alias a, and every alias one of its own, b. No context says which belongs to
which: a run learns it from training alone, where `= b a` states it and `? a` asks for the value of
a record by its alias. Training never asks for half of the names by b, so that a test of these needs
two facts and the record together. Source: NoLiMa, arXiv 2502.05167, in miniature. One sequence of
24 tokens, 2 records, `_` a blank, k0 the mark ?, k1 the mark =; the alias of k71 is k158, of k33
k133, of k158 k221:

    <bos> _ f k71 v18 k33 v55 k0 k158 v18 k0 k71 v18 k1 k133 k33 k0 k33 v55 k1 k221 k158 k1 k221
"""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal, get_args

import numpy as np

from extrap.data.context import Context
from extrap.data.scene import Scene, SceneForm, ScenePart

Kind = Literal["literal", "one-hop", "two-hops", "two-hops-unseen"]
KINDS: tuple[Kind, ...] = get_args(Kind)
VALUE, FACT = range(2)  # key ids of the marks `?` and `=`
MARKS = 2


@cache
def table(keys: int) -> np.ndarray:
    """Returns key numbers (names, 3) of every name, its alias and the alias of the alias, the same
    for every run with so many keys.
    """
    names = (keys - MARKS) // 3
    rng = np.random.default_rng((names, 2502, 5167))
    columns = [np.arange(names), *(rng.permutation(names) for _ in range(2))]
    found = MARKS + np.stack([column + i * names for i, column in enumerate(columns)], 1)
    found.setflags(write=False)
    return found


def unseen(names: np.ndarray) -> np.ndarray:
    """Returns which names training never asks for in two hops: the odd ones."""
    return names % 2 == 1


@dataclass(frozen=True)
class AliasForm(SceneForm):
    """Records asked for by aliases.

    Args:
        kind: the name in the question of a test: the record's own, its alias, the alias of the
            alias, or the last one for names that training never asked for in this way
    """

    kind: Kind = "literal"

    code: ClassVar[int] = 63
    width: ClassVar[int] = 2
    asking: ClassVar[int] = 2

    def keys(self, records: int) -> int:
        return 3 * max(records, 4) + MARKS

    def scene(self, context: Context, records: int) -> Scene:
        vocabulary, known = context.vocabulary, table(context.vocabulary.keys)
        names = context.rng.permutation(len(known))[:records]
        values = context.values(records)
        trained = np.flatnonzero(~unseen(names))
        by_value = [(names, 0), (names, 1), (names[trained], 2)]
        queries = [np.stack([np.full(len(n), VALUE), known[n, hops]], 1) for n, hops in by_value]
        queries += [np.stack([np.full(records, FACT), known[names, hops]], 1) for hops in (1, 2)]
        facts = [vocabulary.key(known[names, hops]) for hops in (0, 1)]
        answers = np.concatenate([values, values, values[trained], *facts])
        rows = np.stack([vocabulary.key(known[names, 0]), values], 1)
        return Scene(
            rows, vocabulary.key(np.concatenate(queries)), answers[:, None], values[:, None]
        )

    def tested(self, context: Context, records: int, depth: float) -> Scene:
        vocabulary, known = context.vocabulary, table(context.vocabulary.keys)
        names = context.rng.permutation(len(known))
        hops = min(KINDS.index(self.kind), 2)
        fits = unseen(names) == (self.kind == "two-hops-unseen") if hops == 2 else names >= 0
        gold = names[np.flatnonzero(fits)[0]]
        names = np.concatenate([[gold], names[names != gold]])[:records]
        values = context.values(records)
        index = round(depth * (records - 1))
        rows = np.stack([vocabulary.key(known[names, 0]), values], 1)
        query = vocabulary.key(np.array([[VALUE, known[gold, hops]]]))
        placed = np.insert(rows[1:], index, rows[0], 0)
        return Scene(placed, query, values[:1, None], values[:, None], index)


@dataclass(frozen=True, kw_only=True)
class Alias(ScenePart):
    """Training sequences: the values of records by name and alias, of half of the names by the
    alias of the alias, and the facts themselves.
    """

    @property
    def form(self) -> AliasForm:
        return AliasForm()
