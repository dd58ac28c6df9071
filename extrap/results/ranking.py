"""How series rank past their training length: the numbers of a page's leaderboard and of `extrap
judge`.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from extrap.results.cells import cells, counted, taught
from extrap.results.effective import NOTHING, Effective, effective_lengths
from extrap.results.series import Series, diverged, select
from extrap.results.stats.intervals import mean_over_seeds
from extrap.results.stats.ranks import rank_intervals

FURTHEST = 4
"""Greatest multiple of the training length at which series are ranked."""
NONE = pd.Series(dtype=float)


class Score(NamedTuple):
    """One measure of one task, by which series are ranked."""

    task: str
    protocol: str
    metric: str

    @property
    def sign(self) -> int:
        """1 where more is better, -1 of a loss."""
        return -1 if self.metric == "nll" else 1

    def mean(self, values: pd.Series) -> float:
        """Returns the mean over seeds, nan without any; a perplexity for losses."""
        mean = float(values.mean()) if len(values) else math.nan
        if self.sign < 0:
            return math.exp(min(mean, 700))
        return mean

    def interval(self, values: pd.Series) -> tuple[float, float, float]:
        """Returns the mean over seeds with its interval, nan below three seeds; perplexities for
        losses.
        """
        within = (0, 1) if self.sign > 0 else (-np.inf, np.inf)
        _, low, high = mean_over_seeds(values, within)
        if self.sign < 0:
            low, high = np.exp([low, high])
        return self.mean(values), float(low), float(high)


RETRIEVAL = Score("kv", "records", "accuracy")
TEXT = Score("nll", "sliding", "nll")


class Place(NamedTuple):
    """The place of a series in a leaderboard.

    series       its index
    far, near    scores by seed at the multiple that ranks, and at the training length
    best, worst  the ranks that paired differences over seeds leave open, 0 without a score
    length       its effective length
    worst_seed   the worst score of a seed
    worst_depth  the worst mean over seeds at a depth, and `depth`; nan without depths
    below        seeds below the gate of the task
    diverged     seeds whose training diverged, of which nothing else is known
    """

    series: int
    far: pd.Series
    near: pd.Series
    best: int
    worst: int
    length: Effective
    worst_seed: float
    worst_depth: float
    depth: float
    below: int
    diverged: int


class Worst(NamedTuple):
    """The worst readings of a series at one length.

    mean             the mean over seeds
    of_seed, seed    the worst score of a seed, and the seed; nan and -1 without a score
    at_depth, depth  the worst mean over seeds at a depth, and the depth; nan without depths
    """

    mean: float
    of_seed: float
    seed: int
    at_depth: float
    depth: float


def furthest(values: dict[float, dict[int, pd.Series]]) -> float:
    """Returns the multiple at which series are ranked: the greatest one up to FURTHEST."""
    return max((multiple for multiple in values if multiple <= FURTHEST), default=1.0)


def places(found: Sequence[Series], of: Score) -> tuple[float, list[Place]]:
    """Returns the multiple that ranks, and the places of series of `whole`: the best one first,
    series without a score there last.
    """
    values = by_multiple(found, of)
    multiple = furthest(values)
    far = values.get(multiple, {})
    near = values.get(1.0, {})
    scores = {str(i): of.sign * far[i] for i in sorted(far)}
    ranks = rank_intervals(pd.DataFrame(scores))

    def from_best(i: int) -> tuple[float, str]:
        return -of.sign * far[i].mean(), found[i].label

    best = sorted(far, key=from_best)
    without = sorted({*near} - {*far}, key=lambda i: found[i].label)
    lines = []
    for i in (*best, *without):
        s = found[i]
        rows = s.rows
        here = far.get(i, NONE)
        missed = (rows["mark"] != "ok") & (rows["task"] == of.task)
        least, most = ranks.get(str(i), (0, 0))
        lowest = worst(s, of, multiple, here)
        lengths = effective_lengths(s)
        line = Place(
            series=i,
            far=here,
            near=near.get(i, NONE),
            best=least,
            worst=most,
            length=lengths.get((of.task, of.protocol), NOTHING),
            worst_seed=lowest.of_seed,
            worst_depth=lowest.at_depth,
            depth=lowest.depth,
            below=rows.loc[missed, "run"].nunique(),
            diverged=len(diverged(rows)),
        )
        lines.append(line)
    return multiple, lines


def worst(s: Series, of: Score, multiple: float, by_seed: pd.Series) -> Worst:
    """Returns the worst readings of a series at a multiple of the training length; by_seed: its
    scores there, as `by_multiple` has them.
    """
    lowest = (of.sign * by_seed).nsmallest(1)
    seed = int(lowest.index[0]) if len(lowest) else -1
    mean = of.mean(by_seed)
    of_seed = of.mean(of.sign * lowest)
    at_depth, depth = _least(_depths(s, of, multiple))
    return Worst(mean, of_seed, seed, at_depth, depth)


def worst_readings(found: Sequence[Series], of: Score) -> dict[tuple[int, float], Worst]:
    """Returns {(series, multiple of the training length): Worst} of the cells that count."""
    readings = {}
    for multiple, values in by_multiple(found, of).items():
        for i, by_seed in values.items():
            readings[i, multiple] = worst(found[i], of, multiple, by_seed)
    return readings


def by_multiple(found: Sequence[Series], of: Score) -> dict[float, dict[int, pd.Series]]:
    """Returns {multiple of the training length: {series: values by seed}} of the cells that count;
    losses in nats.
    """
    parts = []
    for i, s in enumerate(found):
        own = taught(select(s.rows, **of._asdict()))
        scores = counted(cells(own))
        parts.append(scores.assign(series=i))
    rows = pd.concat(parts)
    means = rows.groupby(["multiple", "series", "seed"])["value"].mean()
    out: dict[float, dict[int, pd.Series]] = {}
    place = ["multiple", "series"]
    for (multiple, i), of_cell in means.groupby(level=place):
        by_seed = of_cell.droplevel(place)
        out.setdefault(multiple, {})[i] = by_seed
    return out


def _depths(s: Series, of: Score, multiple: float) -> pd.Series:
    """Returns the mean over the seeds that count at every depth."""
    at_depths = select(s.rows, **of._asdict()).dropna(subset="depth")
    rows = counted(at_depths)
    rows = rows[rows["multiple"] == multiple]
    return rows.groupby("depth")["value"].mean()


def _least(depths: pd.Series) -> tuple[float, float]:
    """Returns the worst score over depths, and its depth."""
    if depths.empty:
        return math.nan, math.nan
    at: Any = depths.idxmin()
    return float(depths.min()), float(at)
