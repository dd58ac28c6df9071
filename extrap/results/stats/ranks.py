"""Agreement of two orders."""

from itertools import combinations, permutations
from math import factorial

import numpy as np
import pandas as pd

from extrap.results.stats.crossed import Mean, over_seeds
from extrap.results.stats.intervals import t_interval

MANY = 10**6
"""Degrees of freedom of a variance that a formula gives."""
EXACT = 40_320
"""Orders of eight items, the most that are all counted."""
TIED = 9
"""Decimals that ranks see: equal means of different numbers may differ by an ulp."""


def spearman(a: pd.Series, b: pd.Series) -> float:
    """Returns Spearman's rank correlation over the index that both have, tied values with their
    mean rank; nan below three places and where all values of one are alike.
    """
    left, right = a.align(b, join="inner")
    rho = left.rank().corr(right.rank(), min_periods=3)
    return float(rho)


def over_items(correlations, items: int) -> Mean:
    """Returns the mean over seeds of rank correlations on Fisher's scale z = atanh r, as a claim
    about items (schemes, methods) that were not read: as uncertain as the items or the seeds make
    it, whichever is more.

    The variance over n items is (1 + r^2 / 2) / (n - 3), r the mean. The noise of a seed
    is part of it: adding the variance over seeds would count that noise twice. Equal orders have no
    finite z: r ends half a step of the statistic below 1, at 1 - 6 / (n (n^2 - 1)).

    Args:
        correlations: (seeds,), from three on with an error of their own.
        items: how many are ordered; below four there is no variance, nan.
    Source: Bonett and Wright 2000, doi.org/10.1007/BF02294183.
    """
    r = np.asarray(correlations, float)
    if items < 4:
        unknown = (np.nan, MANY)
        return Mean(np.nan, (unknown,))
    most = 1 - 6 / (items * (items**2 - 1))
    mean = float(np.clip(r.mean(), -most, most))
    z = float(np.arctanh(mean))
    variance = (1 + mean**2 / 2) / (items - 3)
    by_items = Mean(z, ((variance, MANY),))
    if len(r) < 3:
        return by_items
    finite = np.clip(r, -most, most)
    of_seeds = over_seeds(np.arctanh(finite))
    by_seeds = Mean(z, of_seeds.errors)
    return max(by_items, by_seeds, key=Mean.half)


def concordance(table: np.ndarray) -> float:
    """Returns Kendall's W: how far the rows of (units, items) agree on the order of the items.

    W = 12 S / (m^2 (n^3 - n) - m sum of T), S the sum of squared deviations of the items' rank sums
    from their mean, T = sum of t^3 - t over groups of t tied values of a row: 0 for no agreement, 1
    for one order. https://en.wikipedia.org/wiki/Kendall%27s_W
    """
    units, items = table.shape
    one = table[:, :, None]
    other = table[:, None, :]  # (units, items, items)
    tied = (one == other).sum(2)  # how many are alike, itself included
    ranks = (one > other).sum(2) + (tied + 1) / 2
    ties = (tied**2 - 1).sum()  # each of t tied values adds t^2 - 1
    mean = units * (items + 1) / 2
    from_mean = ranks.sum(0) - mean
    spread = (from_mean**2).sum()
    most = units**2 * (items**3 - items) - units * ties
    return float(12 * spread / most)


def permutation_p(a, b) -> float:
    """Returns the two-sided p of the mean of Spearman's rank correlations over seeds.

    p is the share of all orders of the items, the same order in every seed, whose correlation is at
    least as far from 0. Above `EXACT` orders it comes from as many random ones.

    Args:
        a, b: (seeds, items); ties have their mean rank.
    """
    left = _centred_ranks(a)
    right = _centred_ranks(b)
    seeds, items = left.shape
    squares = (left**2).sum(1) * (right**2).sum(1)
    scale = np.sqrt(squares)
    scaled = left / scale[:, None]
    places = np.arange(items)
    # agreement[i, j]: what item j of b adds where it stands in the place of item i of a
    agreement = np.einsum("si,sj->ij", scaled, right) / seeds
    if factorial(items) <= EXACT:
        orders = np.array([*permutations(range(items))])
    else:
        rng = np.random.default_rng(0)
        unchanged = np.tile(places, (EXACT, 1))
        orders = rng.permuted(unchanged, axis=1)
        orders[0] = places
    sums = agreement[orders, places].sum(1)
    drawn = np.abs(sums)
    found = abs(np.trace(agreement))
    return float(np.mean(drawn >= found - 1e-9))


def _centred_ranks(values) -> np.ndarray:
    """Returns the ranks (seeds, items) within each seed, less their mean."""
    table = pd.DataFrame(np.atleast_2d(values))
    ranks = table.rank(axis=1).to_numpy()
    return ranks - ranks.mean(1, keepdims=True)


def rank_intervals(values: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Returns {column: (best, worst)}, the ranks that each column may have, 1 the greatest value.

    From the paired differences of every two columns over the seeds that both have, at least three:
    best is 1 + how many lie above it, worst is n less how many lie below, where a column lies above
    another if the 95 % t-interval of their difference does. Each pair by itself, not adjusted for
    their number.

    Args:
        values: (seeds, columns), nan where a seed lacks one.
    """
    names = [*values.columns]
    above = dict.fromkeys(names, 0)
    below = dict.fromkeys(names, 0)
    for first, second in combinations(names, 2):
        difference = (values[first] - values[second]).dropna()
        if len(difference) < 3:
            continue
        low, high = t_interval(difference)
        if low > 0:
            below[first] += 1
            above[second] += 1
        elif high < 0:
            below[second] += 1
            above[first] += 1
    n = values.shape[1]
    return {name: (1 + above[name], n - below[name]) for name in names}
