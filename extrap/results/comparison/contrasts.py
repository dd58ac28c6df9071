"""The difference between two series in every cell that both have, and p adjusted for how many are
asked about.
"""

import math
from itertools import chain
from typing import NamedTuple

import numpy as np

from extrap.results.comparison.cells import Cell, Items, measured
from extrap.results.series import Series
from extrap.results.stats.paired import Difference, by_items, by_seeds, holm
from extrap.utils.errors import UserError

Scores = dict[Cell, dict[int, Items]]
Values = dict[Cell, dict[int, float]]


class Contrast(NamedTuple):
    """A difference in one cell, the means of both sides over the seeds that both have, and p as
    adjusted by Holm.

    Args:
        unlike: both sides have items, of different questions, and are paired by seed alone
    """

    cell: Cell
    a: float
    b: float
    difference: Difference
    p: float | None = None
    unlike: bool = False


def contrasts(a: Series, b: Series, of_a: Scores, of_b: Scores) -> list[Contrast]:
    """Returns a Contrast for every cell and the seeds that both have; by items where both have
    items of the same questions.

    Raises UserError where nothing is shared.
    """
    found = between(measured(a), measured(b), of_a, of_b)
    if not found:
        problem = f"{a.label} and {b.label} share no seed that counts in one metric"
        remedy = "evaluate both on the same tasks with the same seeds"
        raise UserError("", problem=problem, remedy=remedy)
    return found


def between(left: Values, right: Values, of_a: Scores, of_b: Scores) -> list[Contrast]:
    """Returns the contrasts of two series by what `measured` returns of each."""
    found = []
    for cell in sorted(left.keys() & right.keys()):
        values_a = left[cell]
        values_b = right[cell]
        seeds = sorted(values_a.keys() & values_b.keys())
        if not seeds:
            continue
        a = np.array([values_a[seed] for seed in seeds])
        b = np.array([values_b[seed] for seed in seeds])
        known_a = of_a.get(cell, {})
        known_b = of_b.get(cell, {})
        items_a = [known_a[seed] for seed in seeds if seed in known_a]
        items_b = [known_b[seed] for seed in seeds if seed in known_b]
        at_hand = len(items_a) == len(items_b) == len(seeds)
        alike = at_hand and all(_same(x, items_a[0]) for x in items_a)
        alike = alike and all(map(_same, items_a, items_b))
        if alike:
            sums_a = [one.sums for one in items_a]
            sums_b = [one.sums for one in items_b]
            counts = [one.counts for one in items_a]
            difference = by_items(sums_a, sums_b, counts)
        else:
            difference = by_seeds(a - b)
        unlike = at_hand and not alike
        mean_a = float(a.mean())
        mean_b = float(b.mean())
        found.append(Contrast(cell, mean_a, mean_b, difference, unlike=unlike))
    return found


def adjusted(pairs: list[list[Contrast]], together: bool) -> list[list[Contrast]]:
    """Returns contrasts with p adjusted by Holm: over every contrast (`together`), or over the
    pairs within each cell.
    """
    adjusted: dict[int, float] = {}
    families: dict[Cell | None, list[Contrast]] = {}
    for one in chain.from_iterable(pairs):
        if one.difference.p is None or math.isnan(one.difference.p):
            continue
        place = None if together else one.cell
        families.setdefault(place, []).append(one)
    for family in families.values():
        raw = [one.difference.p for one in family]
        for one, p in zip(family, holm(raw), strict=True):
            adjusted[id(one)] = float(p)

    def replaced(pair: list[Contrast]) -> list[Contrast]:
        return [one._replace(p=adjusted.get(id(one))) for one in pair]

    return [replaced(pair) for pair in pairs]


def _same(x: Items, y: Items) -> bool:
    """True if items are of the same questions: by their digests if both files have them, as names
    of items are numbers.
    """
    unknown = None in (x.drawn, y.drawn)
    if not unknown and x.drawn != y.drawn:
        return False
    return x.ids.equals(y.ids) and np.array_equal(x.counts, y.counts)
