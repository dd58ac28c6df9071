"""How series rank past their training length: the numbers of a page's leaderboard and of `extrap
judge`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from extrap.results.cells import cells, counted, taught
from extrap.results.effective import NOTHING, Effective, effective_lengths
from extrap.results.series import Series, select
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
        return math.exp(min(mean, 700)) if self.sign < 0 else mean

    def interval(self, values: pd.Series) -> tuple[float, float, float]:
        """Returns the mean over seeds with its interval, nan below three seeds; perplexities for
        losses.
        """
        within = (0, 1) if self.sign > 0 else (-np.inf, np.inf)
        _, low, high = mean_over_seeds(values, within)
        low, high = np.exp([low, high]) if self.sign < 0 else (low, high)
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


def furthest(values: dict[float, dict[int, pd.Series]]) -> float:
    """Returns the multiple at which series are ranked: the greatest one up to FURTHEST."""
    return max((multiple for multiple in values if multiple <= FURTHEST), default=1.0)


def places(found: Sequence[Series], of: Score) -> tuple[float, list[Place]]:
    """Returns the multiple that ranks, and the places of series of `whole`: the best one first,
    series without a score there last.
    """
    values = by_multiple(found, of)
    multiple = furthest(values)
    far, near = values.get(multiple, {}), values.get(1.0, {})
    ranks = rank_intervals(pd.DataFrame({str(i): of.sign * far[i] for i in sorted(far)}))
    best = sorted(far, key=lambda i: (-of.sign * far[i].mean(), found[i].label))
    order = best + sorted({*near} - {*far}, key=lambda i: found[i].label)
    lines = []
    for i in order:
        rows, here = found[i].rows, far.get(i, NONE)
        below = rows.loc[(rows["mark"] != "ok") & (rows["task"] == of.task), "run"].nunique()
        length = effective_lengths(found[i]).get(of[:2], NOTHING)
        worst_seed = of.mean((of.sign * here).nsmallest(1) * of.sign)
        depths = _depths(found[i], of, multiple)
        near_i, rank = near.get(i, NONE), ranks.get(str(i), (0, 0))
        lines.append(Place(i, here, near_i, *rank, length, worst_seed, *_least(depths), below))
    return multiple, lines


def by_multiple(found: Sequence[Series], of: Score) -> dict[float, dict[int, pd.Series]]:
    """Returns {multiple of the training length: {series: values by seed}} of the cells that count;
    losses in nats.
    """
    place = of._asdict()
    own = [counted(cells(taught(select(s.rows, **place)))) for s in found]
    rows = pd.concat([part.assign(series=i) for i, part in enumerate(own)])
    means = rows.groupby(["multiple", "series", "seed"])["value"].mean()
    return {
        at: {i: one.droplevel([0, 1]) for i, one in part.groupby(level="series")}
        for at, part in means.groupby(level=0)
    }


def _depths(s: Series, of: Score, multiple: float) -> pd.Series:
    """Returns the mean over the seeds that count at every depth."""
    rows = counted(select(s.rows, **of._asdict()).dropna(subset="depth"))
    return rows[rows["multiple"] == multiple].groupby("depth")["value"].mean()


def _least(depths: pd.Series) -> tuple[float, float]:
    """Returns the worst score over depths, and its depth."""
    if depths.empty:
        return math.nan, math.nan
    return float(depths.min()), float(depths.idxmin())
