"""Intervals, 95 %, of numbers that are not independent: items read by several seeds, and queries that share a context."""

import numpy as np

from extrap.results.stats.intervals import expanded, student, t_interval, times_drawn

MANY = 10
"""Seeds from which a bootstrap over seeds covers what it promises; below, Student's t over their means does."""


def scheme_mean(sums, counts=None, samples: int = 2000, seed: int = 0):
    """(mean, low, high) of a scheme: t-interval over the means of its seeds below 10 seeds, `two_level` from 10 on.

    sums, counts: (seeds, items), the same items in every seed; counts as in `two_level`, 1 where left out. Raises ValueError below two
    seeds, which tell nothing about a scheme.
    """
    sums, counts = _table(sums, counts)
    means = sums.sum(1) / counts.sum(1)
    if len(sums) >= MANY:
        low, high = two_level(sums, counts, samples, seed)
    else:
        low, high = t_interval(means)
    return float(means.mean()), low, high


def two_level(sums, counts=None, samples: int = 2000, seed: int = 0):
    """(low, high) of the mean over seeds and items, both resampled: seeds, then the items that all drawn seeds read.

    sums, counts: (seeds, items), e.g. the summed loss and the scored tokens of document i under seed s. Items are the same in every
    seed, so that one draw of items serves all seeds of a resample. Percentiles are those of `stats.expanded`. Raises ValueError below
    two seeds.
    Sources: Owen 2007, doi.org/10.1214/07-AOAS122 (both ways resampled at once); Hesterberg 2015, arXiv 1411.5279 (expansion).
    """
    means = resampled(sums, counts, samples, seed)
    tail = expanded(len(np.asarray(sums)))
    low, high = np.percentile(means, [100 * tail, 100 * (1 - tail)])
    return float(low), float(high)


def resampled(sums, counts=None, samples: int = 2000, seed: int = 0) -> np.ndarray:
    """(samples,) means of `two_level`: over seeds and items drawn with replacement."""
    sums, counts = _table(sums, counts)
    seeds, items = sums.shape
    if seeds < 2:
        raise ValueError("two levels need at least two seeds")
    drawn, of_items = times_drawn(seeds, samples, seed), times_drawn(items, samples, seed + 1)
    return np.einsum("rs,ri,si->r", drawn, of_items, sums, optimize=True) / np.einsum("rs,ri,si->r", drawn, of_items, counts, optimize=True)


def clustered(sums, counts, cluster):
    """(mean, low, high) of sum(sums) / sum(counts) over items of which those of one cluster (a context) are not independent.

    sums, counts, cluster: (items,). se^2 = G/(G - 1) sum over clusters (sum over their items of sums - mean counts)^2 / (sum counts)^2,
    G clusters, Student's t of G - 1 degrees. Raises ValueError below two clusters. Source: Liang and Zeger 1986,
    doi.org/10.1093/biomet/73.1.13; for evaluations arXiv 2411.00640.
    """
    sums, counts = (np.asarray(x, float) for x in (sums, counts))
    names, place = np.unique(np.asarray(cluster), return_inverse=True)
    if len(names) < 2:
        raise ValueError("clustered needs at least two clusters")
    mean = sums.sum() / counts.sum()
    residual = np.bincount(place, sums - mean * counts)
    error = np.sqrt(len(names) / (len(names) - 1) * np.sum(residual**2)) / counts.sum()
    half = student(len(names) - 1) * error
    return float(mean), float(mean - half), float(mean + half)


def _table(sums, counts):
    sums = np.asarray(sums, float)
    counts = np.ones_like(sums) if counts is None else np.asarray(counts, float)
    if sums.ndim != 2 or sums.shape != counts.shape or sums.size == 0:
        raise ValueError(f"sums and counts must be of one shape (seeds, items), got {sums.shape} and {counts.shape}")
    return sums, counts
