"""The difference between two series in every cell that both have, and p adjusted for how many are
asked about.
"""

from typing import NamedTuple

import numpy as np

from extrap.results.comparison.cells import Cell, Items, measured
from extrap.results.series import Series
from extrap.results.stats.paired import Difference, by_items, by_seeds, holm
from extrap.utils.errors import UserError

Scores = dict[Cell, dict[int, Items]]


class Contrast(NamedTuple):
    """A difference in one cell, the means of both sides over the seeds that both have, and p as
    adjusted by Holm.

    unlike: both sides have items, of different questions, and are paired by seed alone.
    """

    cell: Cell
    a: float
    b: float
    difference: Difference
    p: float | None = None
    unlike: bool = False


def contrasts(a: Series, b: Series, of_a: Scores, of_b: Scores) -> list[Contrast]:
    """A Contrast for every cell and the seeds that both have; by items where both have them, of the
    same questions.

    Raises UserError where nothing is shared.
    """
    left, right, found = measured(a), measured(b), []
    for cell in sorted(left.keys() & right.keys()):
        seeds = sorted(left[cell].keys() & right[cell].keys())
        if not seeds:
            continue
        ours, theirs = ([side[cell][seed] for seed in seeds] for side in (left, right))
        here = [(of_a.get(cell, {}).get(seed), of_b.get(cell, {}).get(seed)) for seed in seeds]
        at_hand = all(x and y for x, y in here)
        alike = at_hand and all(_same(x, y) and _same(x, here[0][0]) for x, y in here)
        if alike:
            difference = by_items(
                [x.sums for x, _ in here], [y.sums for _, y in here], [x.counts for x, _ in here]
            )
        else:
            difference = by_seeds([x - y for x, y in zip(ours, theirs, strict=True)])
        found.append(
            Contrast(
                cell,
                sum(ours) / len(seeds),
                sum(theirs) / len(seeds),
                difference,
                unlike=at_hand and not alike,
            )
        )
    if not found:
        raise UserError(
            "",
            problem=f"{a.label} and {b.label} share no seed and metric",
            remedy="evaluate both on the same tasks with the same seeds",
        )
    return found


def adjusted(pairs: list[list[Contrast]], together: bool) -> list[list[Contrast]]:
    """The same with p adjusted by Holm: over every contrast (`together`), or over the pairs within
    each cell.
    """
    family: dict = {}
    for i, pair in enumerate(pairs):
        for j, contrast in enumerate(pair):
            if contrast.difference.p is not None:
                family.setdefault(None if together else contrast.cell, []).append((i, j))
    out = [list(pair) for pair in pairs]
    for members in family.values():
        for (i, j), p in zip(
            members, holm([out[i][j].difference.p for i, j in members]), strict=True
        ):
            out[i][j] = out[i][j]._replace(p=float(p))
    return out


def _same(x: Items, y: Items) -> bool:
    """Names of items are numbers, so that what was asked shows in digests alone, where both files
    have them.
    """
    same = None in (x.drawn, y.drawn) or x.drawn == y.drawn
    return same and x.ids.equals(y.ids) and np.array_equal(x.counts, y.counts)
