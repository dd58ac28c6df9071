"""Intervals, all 95 %: Wilson for accuracies, percentile bootstrap over documents or trials, Student t over seeds.

Wilson and the bootstrap tell how well one trained model was measured; only intervals over seeds speak about a scheme. Many seeds, and
items that are not independent: extrap.results.stats.multilevel. Differences between two schemes: extrap.results.stats.paired.
"""

from functools import cache, lru_cache
from statistics import NormalDist

import numpy as np

LEVEL = 0.95
Z = 1.959963984540054  # 97.5 % point of the normal distribution


def wilson(successes, n):
    """(low, high) of a proportion: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n); any broadcastable shapes, n >= 1.

    Source: Wilson 1927, doi.org/10.1080/01621459.1927.10502953. Raises ValueError for n < 1 or successes outside 0 ... n.
    """
    successes, n = np.asarray(successes, float), np.asarray(n, float)
    if np.any(n < 1) or np.any(successes < 0) or np.any(successes > n):
        raise ValueError(f"wilson needs n >= 1 and 0 <= successes <= n, got {successes} of {n}")
    p = successes / n
    centre = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * np.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
    # At the borders the formula is exact in real numbers only; rounding must not exclude 0 or 1.
    low, high = np.where(successes == 0, 0.0, centre - half), np.where(successes == n, 1.0, centre + half)
    return (float(low), float(high)) if low.ndim == 0 else (low, high)


def bootstrap_mean(sums, counts, samples: int = 2000, seed: int = 0):
    """(low, high) of the token-weighted mean sum(sums) / sum(counts) under resampling of documents with replacement.

    sums, counts: (documents, ...), e.g. the summed loss and the number of scored tokens of a document at every length; the result has
    the trailing shape. All trailing columns see the same resamples; the percentiles are those of `expanded`. Raises ValueError where no
    document is given or shapes differ. Sources: Efron and Tibshirani 1993, chapter 13 (percentile interval); arXiv 1411.5279.
    """
    sums, counts = np.asarray(sums, float), np.asarray(counts, float)
    if sums.shape != counts.shape or sums.ndim == 0 or len(sums) == 0:
        raise ValueError(f"bootstrap_mean needs sums and counts of one shape (documents, ...), got {sums.shape} and {counts.shape}")
    drawn = times_drawn(len(sums), samples, seed)
    means = np.tensordot(drawn, sums, 1) / np.tensordot(drawn, counts, 1)
    return _percentiles(means, len(sums))


def t_interval(values):
    """(low, high) of the mean over the first axis: mean -+ t sd / sqrt(n), t the 97.5 % point of Student's t with n - 1 degrees.

    values: (seeds, ...), n >= 2. The honest interval of a scheme below 10 seeds, where a bootstrap over seeds covers too little.
    """
    values = np.asarray(values, float)
    n = len(values)
    if n < 2:
        raise ValueError("t_interval needs at least two values")
    mean, half = values.mean(0), student(n - 1) * values.std(0, ddof=1) / np.sqrt(n)
    low, high = mean - half, mean + half
    return (float(low), float(high)) if values.ndim == 1 else (low, high)


@cache
def student(degrees: int) -> float:
    """97.5 % point of Student's t for whole degrees of freedom, by bisection on `inside`."""
    near, far = 0.0, np.pi / 2
    for _ in range(60):
        angle = (near + far) / 2
        near, far = (angle, far) if inside(angle, degrees) < LEVEL else (near, angle)
    return float(np.sqrt(degrees) * np.tan(near))


def two_sided(t: float, degrees: int) -> float:
    """p of |t| for whole degrees of freedom: how often Student's t lies further from 0."""
    return float(max(0.0, 1 - inside(np.arctan(abs(t) / np.sqrt(degrees)), degrees)))


def inside(angle: float, degrees: int) -> float:
    """P(|T| <= sqrt(degrees) tan(angle)), a finite series. Source: Abramowitz and Stegun 1964, 26.7.3 and 26.7.4."""
    term = total = np.cos(angle) if degrees % 2 else 1.0
    for k in range(2 if degrees % 2 else 1, degrees - 1, 2):
        term = term * np.cos(angle) ** 2 * k / (k + 1)
        total = total + term
    odd = 2 / np.pi * (angle + np.sin(angle) * total * (degrees > 1))
    return odd if degrees % 2 else np.sin(angle) * total


def depth_contrasts(depths) -> dict[str, np.ndarray]:
    """Coefficients over depths of the numbers that summarise a U curve, each (depths,).

    mid = mean accuracy over depths in [.25, .75] (a minimum would give a flat curve a primacy), primacy = a(0) - mid,
    recency = a(1) - mid, u_depth = (a(0) + a(1))/2 - mid, tilt = a(1) - a(0). A curve is a U only where the intervals of primacy and
    recency both lie above 0. Raises ValueError where 0, 1 or the middle is not among the depths.
    """
    depths = np.asarray(depths, float)
    start, end, middle = depths == 0, depths == 1, (depths >= 0.25) & (depths <= 0.75)
    if not (start.sum() == end.sum() == 1 and middle.any()):
        raise ValueError(f"a U curve needs depth 0, depth 1 and one in [.25, .75], got {depths.tolist()}")
    start, end, mid = start.astype(float), end.astype(float), middle / middle.sum()
    return {"mid": mid, "primacy": start - mid, "recency": end - mid, "u_depth": (start + end) / 2 - mid, "tilt": end - start}


def depth_summaries(correct, depths, samples: int = 2000, seed: int = 0) -> dict[str, tuple[float, float, float]]:
    """{name: (value, low, high)} of `depth_contrasts` by resampling trials, each with all its depths (they share distractors).

    correct: (trials, depths), 0 or 1. The interval of a contrast has width 0 where all trials agree, that of mid is then Wilson's.
    """
    correct = np.asarray(correct, float)
    if correct.ndim != 2 or correct.shape[1] != len(depths) or len(correct) == 0:
        raise ValueError(f"depth_summaries needs (trials, {len(depths)}), got {correct.shape}")
    curves = times_drawn(len(correct), samples, seed) @ correct / len(correct)
    contrasts = depth_contrasts(depths)
    found = {name: (float(correct.mean(0) @ c), *_percentiles(curves @ c, len(correct))) for name, c in contrasts.items()}
    if found["mid"][0] in (0, 1):
        found["mid"] = found["mid"][0], *wilson(found["mid"][0] * len(correct), len(correct))
    # A flat curve has a contrast of 1e-16, which must not look like an interval above 0.
    return {name: tuple(round(x, 12) for x in summary) for name, summary in found.items()}


def bootstrap_share(correct) -> tuple[float, float, float]:
    """(share, low, high) of what is right among (trials, questions), 0 or 1, by resampling trials, whose questions are not independent.

    Where all agree nothing varies: the interval is then Wilson's for as many questions as there are trials.
    """
    correct = np.asarray(correct, float)
    share, trials = float(correct.mean()), len(correct)
    if share in (0, 1):
        return share, *wilson(share * trials, trials)
    return share, *bootstrap_mean(correct.sum(1), np.full(trials, correct.shape[1]))


def bootstrap_of(statistic, values, samples: int = 2000, seed: int = 0):
    """(low, high) of a statistic of means under resampling of units. values: (units, ...); statistic: (samples, ...) -> (samples,).

    An interval of width 0 where all units agree.
    """
    values = np.asarray(values, float)
    means = np.tensordot(times_drawn(len(values), samples, seed), values, 1) / len(values)
    return _percentiles(statistic(means), len(values))


@lru_cache(maxsize=4)
def times_drawn(units: int, samples: int, seed: int) -> np.ndarray:
    """(samples, units): how often each unit is drawn in each resample; kept, as many cells of a study share it."""
    drawn = np.random.default_rng(seed).multinomial(units, np.full(units, 1 / units), size=samples).astype(float)
    drawn.setflags(write=False)
    return drawn


def expanded(n: int) -> float:
    """Share of the resampled distribution of n values to cut from each side: Phi(-sqrt(n / (n - 1)) t), t of n - 1 degrees; .025 for one.

    The resampled spread of n values is too narrow by sqrt((n - 1) / n), and its normal tails by t / 1.96. Source: Hesterberg 2015,
    arXiv 1411.5279, section 3.3 (expanded percentiles).
    """
    return NormalDist().cdf(-np.sqrt(n / (n - 1)) * student(n - 1)) if n > 1 else (1 - LEVEL) / 2


def _percentiles(values, units: int):
    """The interval of resampled `values`, a row for each resample of so many units."""
    tail = expanded(units)
    low, high = np.percentile(values, [100 * tail, 100 * (1 - tail)], axis=0)
    return (float(low), float(high)) if low.ndim == 0 else (low, high)
