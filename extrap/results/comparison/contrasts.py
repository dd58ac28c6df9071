"""The difference between two series in every cell that both have, and p adjusted for how many are
asked about.
"""

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
        problem = f"{a.label} and {b.label} share no seed and metric"
        remedy = "evaluate both on the same tasks with the same seeds"
        raise UserError("", problem=problem, remedy=remedy)
    return found


def between(left: Values, right: Values, of_a: Scores, of_b: Scores) -> list[Contrast]:
    """Returns the contrasts of two series by what `measured` returns of each."""
    found = []
    for cell in sorted(left.keys() & right.keys()):
        seeds = sorted(left[cell].keys() & right[cell].keys())
        if not seeds:
            continue
        ours = np.array([left[cell][seed] for seed in seeds])
        theirs = np.array([right[cell][seed] for seed in seeds])
        here = [(of_a.get(cell, {}).get(seed), of_b.get(cell, {}).get(seed)) for seed in seeds]
        at_hand = all(x and y for x, y in here)
        alike = at_hand and all(_same(x, y) and _same(x, here[0][0]) for x, y in here)
        if alike:
            sums = ([x.sums for x, _ in here], [y.sums for _, y in here])
            difference = by_items(*sums, [x.counts for x, _ in here])
        else:
            difference = by_seeds(ours - theirs)
        means, unlike = (float(ours.mean()), float(theirs.mean())), at_hand and not alike
        found.append(Contrast(cell, *means, difference, unlike=unlike))
    return found


def adjusted(pairs: list[list[Contrast]], together: bool) -> list[list[Contrast]]:
    """Returns contrasts with p adjusted by Holm: over every contrast (`together`), or over the
    pairs within each cell.
    """
    every = [one for one in chain.from_iterable(pairs) if one.difference.p is not None]
    adjusted: dict[int, float] = {}
    for cell in [None] if together else {one.cell for one in every}:
        family = [one for one in every if together or one.cell == cell]
        p = holm([one.difference.p for one in family])
        adjusted |= zip(map(id, family), map(float, p), strict=True)

    def replaced(pair: list[Contrast]) -> list[Contrast]:
        return [one._replace(p=adjusted.get(id(one))) for one in pair]

    return [replaced(pair) for pair in pairs]


def _same(x: Items, y: Items) -> bool:
    """True if items are of the same questions: by their digests if both files have them, as names
    of items are numbers.
    """
    same = None in (x.drawn, y.drawn) or x.drawn == y.drawn
    return same and x.ids.equals(y.ids) and np.array_equal(x.counts, y.counts)
