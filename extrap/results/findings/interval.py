"""The 95 % interval of a statement's statistic, and the p of its bound.

From three seeds on the interval of a mean is Student's over seeds. Where the statement subtracts
nothing, the error of its documents or trials is added, as `stats.crossed.over_both` adds it: rows
hold the interval of each seed, and the mean of their widths is the error of items that are equally
hard for every seed, the greatest there can be. Where it subtracts readings of the same documents,
their error cancels; how much of it does only the items tell, which are not committed, so that the
interval is over seeds alone and speaks about the documents that were read.

A gate is another matter: a seed learns or does not, so that a few alike say little of the next. The
interval then also holds every mean that the exact interval of the share of seeds that learn allows
(`learning`). A median has the interval of its order statistics, none below six seeds. The interval
of a rank correlation is over the items that it orders, and over seeds from three on. One seed has
the interval of its documents or trials otherwise.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc, ndtr

from extrap.results.findings.statement import Statement
from extrap.results.findings.statistics import Read
from extrap.results.stats.crossed import Mean, over_seeds
from extrap.results.stats.intervals import ENOUGH, Z, exact_share, median_interval
from extrap.results.stats.ranks import MANY, over_items

PASSED = 0.9
"""The gate: accuracy within the training length from which a seed has learned a task."""
Z_POWER = 0.8416212335729143  # 80 % point of the normal distribution


class Interval(NamedTuple):
    """effect with its interval, the distance from the bound that four studies in five detect, and
    the two-sided p of the bound; nan where nothing supports them.
    """

    effect: float
    low: float = np.nan
    high: float = np.nan
    detectable: float = np.nan
    p: float = np.nan


def interval(statement: Statement, found: Read) -> Interval:
    """Returns the interval of what `statistics.measured` found, without nan among its values."""
    values = found.value.to_numpy(float)
    bound = statement.threshold
    if found.items:
        return _of_ranks(values, found.items, bound)
    if len(values) == 1:
        down = float(found.down.iloc[0])
        up = float(found.up.iloc[0])
        return _of_one(values[0], down, up, bound)
    if statement.across == "median":
        middle = float(np.median(values))
        low, high = median_interval(values)
        return Interval(middle, low, high, p=_sign_p(values, bound))
    if len(values) < ENOUGH:
        return Interval(float(np.mean(values)))
    down = 0.0
    up = 0.0
    if not statement.compares:
        down, up = np.nan_to_num([found.down.mean(), found.up.mean()])
    mean = over_seeds(values)
    half = mean.half()
    if down or up:
        of_items = ((down + up) / 2 / Z) ** 2
        errors = (*mean.errors, (of_items, MANY))
        mean = Mean(mean.value, errors)
    low = mean.value - np.hypot(half, down)
    high = mean.value + np.hypot(half, up)
    from_bound = Mean(mean.value - bound, mean.errors)
    p = from_bound.p
    if statement.learning:
        (least, most), chance = learning(values, bound)
        low = min(low, least)
        high = max(high, most)
        p = max(p, chance)
    if statement.statistic == "rank" and np.ptp(values) == 0:  # ranks are few: seeds often agree
        p = _sign_p(values, bound)
    return Interval(mean.value, low, high, mean.detectable, p)


def learning(values, bound: float = PASSED) -> tuple[tuple[float, float], float]:
    """Returns ((low, high), p) of the mean of gates (seeds,): each seed passes or does not.

    With s the share of all seeds that pass, the mean is s a + (1 - s) b, a and b the means of the
    seeds read that pass and that do not; of a kind that no seed is, the extreme: 1 and 0. s has the
    exact interval; p tests the share at which this mean meets the bound.
    """
    values = np.asarray(values, float)
    passed = values[values >= PASSED]
    failed = values[values < PASSED]
    k = len(passed)
    n = len(values)
    above = float(passed.mean()) if k else 1.0
    below = float(failed.mean()) if k < n else 0.0
    apart = above - below
    ends = [below + share * apart for share in exact_share(k, n)]
    at_bound = (bound - below) / apart
    needed = float(np.clip(at_bound, 0, 1))
    fewer = bdtr(k, n, needed)
    more = bdtrc(k - 1, n, needed) if k else 1.0
    p = min(1.0, 2 * float(min(fewer, more)))
    if not 0 <= at_bound <= 1:  # no share of seeds that pass gives this mean
        p = 0.0
    return (min(ends), max(ends)), p


def _of_ranks(values, items: int, bound: float) -> Interval:
    """On Fisher's scale; the detectable distance is that from the correlation that was found."""
    found = over_items(values, items)
    effect = float(np.mean(values))
    half = found.half()
    low, high = np.tanh([found.value - half, found.value + half])
    finite = np.clip(bound, -1 + 1e-9, 1 - 1e-9)
    z = float(np.arctanh(finite))
    p = np.nan
    if items > 3:
        from_bound = Mean(found.value - z, found.errors)
        p = from_bound.p
    further = np.tanh(abs(z) + found.detectable)
    near = abs(float(further - np.tanh(abs(z))))
    low = min(float(low), effect)
    high = max(float(high), effect)
    return Interval(effect, low, high, near, p)


def _of_one(value: float, down: float, up: float, bound: float) -> Interval:
    """Returns the interval that rows hold, with the p value of a normal error."""
    side = down if value > bound else up
    if np.isnan(side):
        p = np.nan
    elif side > 0:
        z = abs(value - bound) * Z / side
        p = float(2 * ndtr(-z))
    else:
        p = float(value == bound)
    detectable = (down + up) / 2 * (1 + Z_POWER / Z)
    return Interval(value, value - down, value + up, detectable, p)


def _sign_p(values, bound: float) -> float:
    """Returns the two-sided p value of the sign test, which inverts to order statistics."""
    above = int((values > bound).sum())
    below = int((values < bound).sum())
    fewer = len(values) - max(above, below)  # values at the bound speak for neither side
    tail = float(bdtr(fewer, len(values), 0.5))
    return min(1.0, 2 * tail)
