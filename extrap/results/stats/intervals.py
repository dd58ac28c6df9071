"""95 % intervals of independent values: Wilson for accuracies, percentile bootstrap over documents
or trials, Student's t over seeds, Clopper and Pearson for the share of seeds that learn.

Wilson and the bootstrap say how well one trained model was measured; only intervals over seeds
speak about a scheme. Seeds and items together: extrap.results.stats.crossed. Differences between
two schemes: extrap.results.stats.paired.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import bdtr, betaincinv, ndtr, stdtrit

LEVEL = 0.95
SAMPLES = 2000
ENOUGH = 3
"""Seeds from which an interval speaks about a scheme."""
Z = 1.959963984540054  # 97.5 % point of the normal distribution
FEW = 10
"""Units below which a bootstrap covers too little (.72 to .90), so that Student's t is used."""


def wilson(successes, n):
    """(low, high) of a proportion: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n); any
    broadcastable shapes, n >= 1.

    Source: Wilson 1927, doi.org/10.1080/01621459.1927.10502953. Raises ValueError for n < 1 or
    successes outside 0 ... n.
    """
    successes = np.asarray(successes, float)
    n = np.asarray(n, float)
    impossible = (successes < 0) | (successes > n)
    if np.any(n < 1) or np.any(impossible):
        raise ValueError(f"wilson needs n >= 1 and 0 <= successes <= n, got {successes} of {n}")
    p = successes / n
    scale = 1 + Z**2 / n
    centre = (p + Z**2 / (2 * n)) / scale
    variance = p * (1 - p) / n + Z**2 / (4 * n**2)
    half = Z / scale * np.sqrt(variance)
    # At the borders the formula is exact in real numbers only; rounding must not exclude 0 or 1.
    low = np.where(successes == 0, 0.0, centre - half)
    high = np.where(successes == n, 1.0, centre + half)
    return _pair(low, high)


def exact_share(successes: int, n: int) -> tuple[float, float]:
    """Returns (low, high) of a share of n independent cases, such as the seeds that learn a task.

    low is the share under which so many successes or more come in 2.5 % of all cases, high the one
    under which so many or fewer do: at least 95 % whatever the share, of three seeds as well.

    Source: Clopper and Pearson 1934, doi.org/10.1093/biomet/26.4.404, by quantiles of the beta
    distribution. Raises ValueError for n < 1 or successes outside 0 ... n.
    """
    if n < 1 or not 0 <= successes <= n:
        problem = f"exact_share needs n >= 1 and 0 <= successes <= n, got {successes} of {n}"
        raise ValueError(problem)
    tail = (1 - LEVEL) / 2
    failures = n - successes
    low = 0.0
    high = 1.0
    if successes:
        low = betaincinv(successes, failures + 1, tail)
    if failures:
        high = betaincinv(successes + 1, failures, 1 - tail)
    return float(low), float(high)


def bootstrap_mean(sums, counts, samples: int = SAMPLES):
    """Returns (low, high) of the token-weighted mean sum(sums) / sum(counts) over documents.

    From 10 documents with scored tokens on, percentiles (`expanded`) under resampling of documents
    with replacement; below, `ratio_interval`. All trailing columns see the same resamples.

    Args:
        sums, counts: (documents, ...), e.g. the summed loss and the number of scored tokens of a
            document at every length; the result has the trailing shape.
    Source: Efron and Tibshirani 1993, chapter 13 (percentile interval); arXiv 1411.5279.
    """
    sums, counts = with_counts(sums, counts)
    if len(sums) < FEW:
        return ratio_interval(sums, counts)
    drawn = times_drawn(len(sums), samples)
    of_sums = np.tensordot(drawn, sums, 1)
    of_counts = np.tensordot(drawn, counts, 1)
    if of_counts.ndim == 1:  # units without a count have no mean among themselves
        drawn_some = of_counts > 0
        of_sums = of_sums[drawn_some]
        of_counts = of_counts[drawn_some]
    return _percentiles(of_sums / of_counts, len(sums))


def with_counts(sums, counts):
    """Returns sums and counts of the units that have either: the others say nothing."""
    sums = np.asarray(sums, float)
    counts = np.asarray(counts, float)
    if counts.ndim > 1:
        return sums, counts
    known = (counts > 0) | (sums != 0)
    return sums[known], counts[known]


def ratio_interval(sums, counts):
    """(low, high) of the ratio R = sum(sums) / sum(counts) over n units, by Student's t of n - 1.

    se^2 = n/(n - 1) sum of (sums - R counts)^2 / (sum counts)^2; equal counts make it the
    t-interval of a mean. One unit supports no interval: nan.

    Args:
        sums, counts: (n, ...).
    Source: Cochran 1977, Sampling Techniques, section 6.4 (linearised variance of a ratio).
    """
    n = len(sums)
    ratio = sums.sum(0) / counts.sum(0)
    if n == 1:
        none = np.full_like(ratio, np.nan)
        return _pair(none, none)
    residual = sums - ratio * counts
    squares = (residual**2).sum(0)
    variance = n / (n - 1) * squares
    error = np.sqrt(variance) / counts.sum(0)
    half = student(n - 1) * error
    return _pair(ratio - half, ratio + half)


def t_interval(values):
    """(low, high) of the mean over the first axis: mean -+ t sd / sqrt(n), t the 97.5 % point of
    Student's t with n - 1 degrees.

    The honest interval of a scheme below 10 seeds, where a bootstrap over seeds covers too little.
    It says nothing about documents that no run read. One seed supports no interval: nan.

    Args:
        values: (seeds, ...), n >= 1.
    """
    values = np.asarray(values, float)
    n = len(values)
    mean = values.mean(0)
    if n == 1:
        none = np.full_like(mean, np.nan)
        return _pair(none, none)
    spread = values.std(0, ddof=1)
    half = student(n - 1) * spread / np.sqrt(n)
    return _pair(mean - half, mean + half)


def mean_over_seeds(values, within=(-np.inf, np.inf)) -> tuple[float, float, float]:
    """Returns (mean, low, high) over seeds: the one mean of tables, charts and figures.

    values: (seeds,), one number each; of none the mean is nan. The interval is Student's
    (`t_interval`), cut to `within`; fewer than three seeds (`ENOUGH`) have none: nan.
    """
    values = np.asarray(values, float)
    mean = float(values.mean()) if len(values) else np.nan
    if len(values) < ENOUGH:
        return mean, np.nan, np.nan
    low, high = np.clip(t_interval(values), *within)
    return mean, float(low), float(high)


def median_interval(values):
    """Returns (low, high) of the median of independent values, two of the values themselves.

    The k-th least and the k-th greatest, k the greatest for which the interval covers the median
    in 95 % of all cases whatever the distribution: P(Binomial(n, 1/2) < k) <= .025. Below six
    values no k does: nan.

    Source: David and Nagaraja 2003, Order Statistics, section 7.1.
    """
    values = np.sort(np.asarray(values, float))
    n = len(values)
    tail = (1 - LEVEL) / 2
    below = bdtr(np.arange(n), n, 0.5)
    k = int((below <= tail).sum())
    if k == 0:
        return np.nan, np.nan
    return float(values[k - 1]), float(values[-k])


def student(degrees: float) -> float:
    """Returns the point of Student's t below which 97.5 % of it lies."""
    return float(stdtrit(degrees, (1 + LEVEL) / 2))


def depth_contrasts(depths) -> dict[str, np.ndarray]:
    """Coefficients over depths of the numbers that summarise a U curve, each (depths,).

    mid = mean accuracy over depths in [.25, .75] (a minimum would give a flat curve a primacy),
    primacy = a(0) - mid, recency = a(1) - mid, u_depth = (a(0) + a(1))/2 - mid, tilt = a(1) - a(0).
    A curve is a U only where the intervals of primacy and recency both lie above 0. Raises
    ValueError where 0, 1 or the middle is not among the depths.
    """
    depths = np.asarray(depths, float)
    start = depths == 0
    end = depths == 1
    middle = (depths >= 0.25) & (depths <= 0.75)
    one_each = start.sum() == end.sum() == 1
    if not one_each or not middle.any():
        raise ValueError(
            f"a U curve needs depth 0, depth 1 and one in [.25, .75], got {depths.tolist()}"
        )
    start = start.astype(float)
    end = end.astype(float)
    mid = middle / middle.sum()
    return {
        "mid": mid,
        "primacy": start - mid,
        "recency": end - mid,
        "u_depth": (start + end) / 2 - mid,
        "tilt": end - start,
    }


def depth_summaries(correct, depths) -> dict[str, tuple[float, float, float]]:
    """Returns {name: (value, low, high)} of `depth_contrasts` by resampling trials, each with all
    its depths (they share distractors).

    correct: (trials, depths), 0 or 1. Where all trials agree, the interval of a contrast has
    width 0, and mid has Wilson's interval. Below 10 trials Student's t takes the place of
    resampling.
    """
    correct = np.asarray(correct, float)
    ones = np.ones(len(correct))
    means = correct.mean(0)
    found = {}
    for name, weights in depth_contrasts(depths).items():
        low, high = bootstrap_mean(correct @ weights, ones)
        found[name] = float(means @ weights), low, high
    # A sum of several 1 / k is not 1 to the last bit.
    trials = len(correct)
    mid = round(found["mid"][0], 12)
    if mid in (0, 1):
        found["mid"] = mid, *wilson(mid * trials, trials)
    # A flat curve has a contrast of 1e-16, which must not look like an interval above 0.
    rounded = {}
    for name, (value, low, high) in found.items():
        rounded[name] = round(value, 12), round(low, 12), round(high, 12)
    return rounded


def bootstrap_share(correct) -> tuple[float, float, float]:
    """Returns (share, low, high) of the right answers among (trials, questions), 0 or 1, by
    resampling trials, whose questions are not independent.

    Where all agree nothing varies: the interval is then Wilson's for as many questions as there are
    trials.
    """
    correct = np.asarray(correct, float)
    share = float(correct.mean())
    trials = len(correct)
    if share in (0, 1):
        return share, *wilson(share * trials, trials)
    right = correct.sum(1)
    counts = np.full(trials, correct.shape[1])
    return share, *bootstrap_mean(right, counts)


def bootstrap_of(statistic, values):
    """Returns (low, high) of a statistic of means under resampling of units.

    Args:
        values: (units, ...)
        statistic: (samples, ...) -> (samples,)

    An interval of width 0 where all units agree; nan below 10 units, where resampling covers too
    little and a statistic of any form has no other interval.
    """
    values = np.asarray(values, float)
    if len(values) < FEW:
        return np.nan, np.nan
    n = len(values)
    sums = np.tensordot(times_drawn(n), values, 1)
    found = statistic(sums / n)
    return _percentiles(found, n)


@lru_cache(maxsize=4)
def times_drawn(units: int, samples: int = SAMPLES) -> np.ndarray:
    """Returns (samples, units): how often each unit is drawn; many cells of a study share it."""
    rng = np.random.default_rng(0)
    alike = np.full(units, 1 / units)
    drawn = rng.multinomial(units, alike, size=samples).astype(float)
    drawn.setflags(write=False)
    return drawn


def expanded(n: int) -> float:
    """Returns the share of the resampled distribution of n values to cut from each side:
    Phi(-sqrt(n / (n - 1)) t), t of n - 1 degrees; .025 for one.

    The resampled spread of n values is too narrow by sqrt((n - 1) / n), and its normal tails by t /
    1.96. Source: Hesterberg 2015, arXiv 1411.5279, section 3.3 (expanded percentiles).
    """
    if n == 1:
        return (1 - LEVEL) / 2
    wider = np.sqrt(n / (n - 1))
    return float(ndtr(-wider * student(n - 1)))


def _percentiles(values, units: int):
    """Returns the interval of resampled `values`, a row for each resample of so many units."""
    tail = expanded(units)
    ends = [100 * tail, 100 * (1 - tail)]
    low, high = np.percentile(values, ends, axis=0)
    return _pair(low, high)


def _pair(low, high) -> tuple[Any, Any]:
    """Returns two floats, or two arrays."""
    if np.ndim(low) == 0:
        return float(low), float(high)
    return low, high
