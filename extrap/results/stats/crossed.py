"""The mean of items that several seeds read, with the error that seeds and items each add to it.

y[s, i] = mu + a[s] + b[i] + e[s, i]: a seed moves all items, an item (a document, a trial) is hard
for all seeds. Both were drawn, so that the mean is uncertain by both; an interval over seeds alone
takes the items as fixed and speaks about these documents only.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit

from extrap.results.stats.intervals import LEVEL

POWER = 0.8
"""Chance with which a difference as large as `Mean.detectable` is told from 0."""


@dataclass(frozen=True)
class Mean:
    """A mean and its independent errors, each a variance with the degrees of freedom behind it.

    half(q) = sqrt(sum of t(q, degrees)^2 variance) is Student's half-width for one error; for
    several it covers at least what it promises. Source: Banerjee 1960, Approximate confidence
    interval for linear functions of means of k populations when the population variances are not
    equal, Sankhya 22, 357.
    """

    value: float
    errors: tuple[tuple[float, int], ...]

    def half(self, share: float = (1 + LEVEL) / 2) -> float:
        squares = (variance * stdtrit(df, share) ** 2 for variance, df in self.errors)
        return float(np.sqrt(sum(squares)))

    @property
    def interval(self) -> tuple[float, float]:
        return self.value - self.half(), self.value + self.half()

    @property
    def p(self) -> float:
        """Two-sided p of 0: where the interval of level 1 - p just touches it; nan if an error is
        unknown.
        """
        if any(np.isnan(variance) for variance, _ in self.errors):
            return np.nan
        errors = [(variance, df) for variance, df in self.errors if variance > 0]
        if not errors:
            return float(self.value == 0)
        if len(errors) == 1:
            ((variance, degrees),) = errors
            t = abs(self.value) / np.sqrt(variance)
            return float(2 * stdtr(degrees, -t))

        def beyond(tail: float) -> float:
            return self.half(1 - np.exp(tail)) - abs(self.value)

        least = np.log(1e-15)  # 1 - tail is 1 in double precision below
        if beyond(least) <= 0:
            return 0.0
        tail: Any = brentq(beyond, least, np.log(0.5))
        return float(2 * np.exp(tail))

    @property
    def detectable(self) -> float:
        """Minimum detectable effect: the true difference whose interval lies beyond 0 in 80 %."""
        return self.half() + self.half(POWER)


def over_seeds(values) -> Mean:
    """Returns the mean over seeds (seeds,), at least two, as far as seeds make it uncertain."""
    values = np.asarray(values, float)
    n = len(values)
    mean = float(values.mean())
    variance = float(values.var(ddof=1)) / n
    return Mean(mean, ((variance, n - 1),))


def over_both(sums, counts=None) -> Mean:
    """Returns the mean over seeds and items of sums / counts, uncertain by both.

    With r[s, i] = (sums - m counts) / mean counts, m the mean, the errors are the variance of the
    mean over seeds, var_s(mean_i r) / S, and that over items, var_i(mean_s r) / I. Each holds the
    noise e, which is thus counted twice: never less than there is.

    Args:
        sums: (S, I), at least two seeds; e.g. the summed loss of document i under seed s. Items are
            the same in every seed.
        counts: (S, I), e.g. scored tokens; 1 where left out. Items without any have no say. One
            item alone adds no error of its own: the mean then speaks about this item.
    Source: Owen 2007, doi.org/10.1214/07-AOAS122 (crossed random effects; weights of variance
        counted twice are conservative).
    """
    sums = np.asarray(sums, float)
    counts = np.ones_like(sums) if counts is None else np.asarray(counts, float)
    several = sums.shape[1] > 1
    known = counts.any(0)
    sums, counts = sums[:, known], counts[:, known]
    seeds, items = sums.shape
    means = sums.sum(1) / counts.sum(1)
    value = float(means.mean())
    residual = (sums - value * counts) / counts.mean()  # (S, I)
    of_seeds = float(means.var(ddof=1)) / seeds
    errors = [(of_seeds, seeds - 1)]
    if items > 1:
        by_item = residual.mean(0)
        of_items = float(by_item.var(ddof=1)) / items
        errors.append((of_items, items - 1))
    elif several:  # one of many has something that counts
        errors.append((np.nan, 1))
    return Mean(value, tuple(errors))
