"""Differences between two schemes on the same items, and what is left of them when several
contrasts are declared.
"""

from dataclasses import dataclass

import numpy as np

from extrap.results.stats.crossed import Mean, over_both, over_seeds
from extrap.results.stats.intervals import (
    FEW,
    bootstrap_mean,
    ratio_interval,
    student,
    times_drawn,
    with_counts,
)


@dataclass(frozen=True)
class Difference:
    """a - b with its 95 % interval, two-sided p and minimum detectable effect (None where nothing
    supports them), and what it rests on.

    fixed_low, fixed_high: the interval over seeds alone, which speaks about these items only.
    """

    value: float
    low: float | None
    high: float | None
    p: float | None
    seeds: int
    items: int | None
    detectable: float | None = None
    fixed_low: float | None = None
    fixed_high: float | None = None


def by_items(a, b, counts=None) -> Difference:
    """Returns the mean of a - b, sums (seeds, items) over counts (seeds, items): seed s of a is
    paired with seed s of b, item i is the same in all. counts: the scored tokens of a document;
    1 by default.

    One seed: resamples items; the difference speaks about these two models. p comes from
    t = difference / (sd sqrt(n / (n - 1))), sd of the resampled differences, n items; one item
    supports no interval. From two seeds on: `crossed.over_both`, which speaks about seeds and items
    that were not drawn, with the interval over seeds alone as `fixed_low` and `fixed_high`.
    """
    less = np.asarray(a, float) - np.asarray(b, float)
    counts = np.ones_like(less) if counts is None else np.asarray(counts, float)
    seeds, items = less.shape
    if seeds > 1:
        both = over_both(less, counts)
        means = less.sum(1) / counts.sum(1)
        fixed = over_seeds(means)
        return _difference(both, seeds, items, *both.interval, *fixed.interval)
    value = float(less.sum() / counts.sum())
    if items == 1:
        return Difference(value, None, None, None, 1, 1)
    (own,) = less
    (scored,) = counts
    error = _error(own, scored)
    mean = Mean(value, (error,))
    low, high = bootstrap_mean(own, scored)
    return _difference(mean, 1, items, low, high)


def by_seeds(differences) -> Difference:
    """Returns the mean of paired differences (seeds,), one per seed, with Student's t interval and
    p, without them for one seed. It speaks about the items that were read.
    """
    d = np.asarray(differences, float)
    seeds = len(d)
    if seeds < 2:
        mean = float(d.mean())
        return Difference(mean, None, None, None, seeds, None)
    found = over_seeds(d)
    low, high = found.interval
    return _difference(found, seeds, None, low, high, low, high)


def holm(p) -> np.ndarray:
    """Returns p values (contrasts,) adjusted so that the chance of any false one among them stays
    below the level, whatever their dependence.

    In ascending order, adjusted_k = max over i <= k of (m - i) p_i with i from 0, at most 1.
    Source: Holm 1979, jstor.org/stable/4615733.
    """
    p = np.asarray(p, float)
    n = len(p)
    order = np.argsort(p, kind="stable")
    left = n - np.arange(n)
    adjusted = np.maximum.accumulate(left * p[order])
    out = np.empty_like(p)
    out[order] = np.minimum(adjusted, 1)
    return out


def benjamini_hochberg(p) -> np.ndarray:
    """Returns p values (contrasts,) adjusted for the rate of false discoveries: among contrasts
    with an adjusted p below q, the expected share of false ones is at most q. The tests are
    independent or positively dependent.

    In ascending order, adjusted_k = min over i >= k of m p_i / i with i from 1, at most 1.
    Source: Benjamini and Hochberg 1995, doi.org/10.1111/j.2517-6161.1995.tb02031.x.
    """
    p = np.asarray(p, float)
    n = len(p)
    order = np.argsort(p, kind="stable")
    ranks = np.arange(1, n + 1)
    scaled = n * p[order] / ranks
    from_above = np.minimum.accumulate(scaled[::-1])
    adjusted = from_above[::-1]
    out = np.empty_like(p)
    out[order] = np.minimum(adjusted, 1)
    return out


def _difference(found: Mean, seeds, items, low, high, *fixed) -> Difference:
    return Difference(found.value, low, high, found.p, seeds, items, found.detectable, *fixed)


def _error(sums, counts) -> tuple[float, int]:
    """Returns (variance, degrees) of a mean over the items of one seed, as in its interval."""
    sums, counts = with_counts(sums, counts)
    n = len(sums)
    if n < FEW:
        low, high = ratio_interval(sums, counts)
        error = (high - low) / 2 / student(n - 1)
        return error**2, n - 1
    drawn = times_drawn(n)
    means = drawn @ sums / (drawn @ counts)
    # The spread of resampled means of n values is too narrow by sqrt((n - 1) / n).
    variance = float(np.var(means)) * n / (n - 1)
    return variance, n - 1
