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
    aliases = rng.permutation(names)
    seconds = rng.permutation(names)
    found = MARKS + np.stack([np.arange(names), names + aliases, 2 * names + seconds], 1)
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
        vocabulary = context.vocabulary
        known = table(vocabulary.keys)
        names = context.rng.permutation(len(known))[:records]
        values = context.values(records)
        trained = np.flatnonzero(~unseen(names))
        name, alias, second = known[names].T
        queries = [
            _marked(VALUE, name),
            _marked(VALUE, alias),
            _marked(VALUE, second[trained]),
            _marked(FACT, alias),
            _marked(FACT, second),
        ]
        facts = [vocabulary.key(name), vocabulary.key(alias)]
        answers = np.concatenate([values, values, values[trained], *facts])
        return Scene(
            records=np.stack([vocabulary.key(name), values], 1),
            queries=vocabulary.key(np.concatenate(queries)),
            answers=answers[:, None],
            values=values[:, None],
        )

    def tested(self, context: Context, records: int, depth: float) -> Scene:
        vocabulary = context.vocabulary
        known = table(vocabulary.keys)
        names = context.rng.permutation(len(known))
        hops = min(KINDS.index(self.kind), 2)
        asked = names
        if hops == 2:
            asked = names[unseen(names) == (self.kind == "two-hops-unseen")]
        gold = asked[0]
        others = names[names != gold]
        names = np.concatenate([[gold], others])[:records]
        values = context.values(records)
        index = round(depth * (records - 1))
        rows = np.stack([vocabulary.key(known[names, 0]), values], 1)
        placed = np.insert(rows[1:], index, rows[0], 0)
        query = vocabulary.key(np.array([[VALUE, known[gold, hops]]]))
        return Scene(placed, query, values[:1, None], values[:, None], index)


def _marked(mark: int, keys: np.ndarray) -> np.ndarray:
    """Returns key numbers (n,) with a mark in front of each, (n, 2)."""
    return np.stack([np.full(len(keys), mark), keys], 1)


@dataclass(frozen=True, kw_only=True)
class Alias(ScenePart):
    """Training sequences: the values of records by name and alias, of half of the names by the
    alias of the alias, and the facts themselves.
    """

    @property
    def form(self) -> AliasForm:
        return AliasForm()
