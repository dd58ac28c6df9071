"""Differences between two schemes on the same items, and what is left of them when several contrasts are declared."""

from dataclasses import dataclass

import numpy as np

from extrap.results.stats.multilevel import MANY, resampled, scheme_mean
from extrap.results.stats.intervals import bootstrap_mean, t_interval, times_drawn, two_sided

SAMPLES = 2000


@dataclass(frozen=True)
class Difference:
    """a - b with its 95 % interval and two-sided p (None where nothing supports them), and what it rests on."""

    value: float
    low: float | None
    high: float | None
    p: float | None
    seeds: int
    items: int | None


def paired_difference(a, b, counts=None, samples: int = SAMPLES, seed: int = 0):
    """(difference, low, high) of the means of a and b over the same documents or trials, resampled in pairs: one run against one.

    a, b, counts: (documents, ...); counts are the scored tokens of a document, 1 where left out (accuracies). The interval is narrower
    than that of two independent means as far as a and b agree on what is hard. Raises ValueError where the shapes differ.
    """
    a, b = _same(a, b)
    counts = np.ones_like(a) if counts is None else np.asarray(counts, float)
    low, high = bootstrap_mean(a - b, counts, samples, seed)
    difference = (a - b).sum(0) / counts.sum(0)
    return (float(difference), low, high) if difference.ndim == 0 else (difference, low, high)


def by_items(a, b, counts=None) -> Difference:
    """a - b of sums (seeds, items) over counts (seeds, items), seed s of a beside seed s of b, item i the same in all.

    One seed: `paired_difference` over items, which speaks about these two models; one item of one seed supports nothing. From two on:
    Student's t over the paired mean of each seed; from 10 on the two-level bootstrap of `levels.two_level`.

    p is that of t = difference / (sd sqrt(n / (n - 1))), sd of the resampled differences, n - 1 degrees, n the seeds (items of one seed).
    The interval is cut from the same resamples where a normal distribution of them has |t| = student(n - 1) (stats.expanded), so both say
    the same up to the skew of the resamples. A share of resamples beyond 0 would have a floor, 1 of 2000 and .0123 once it is expanded for
    ten seeds, under which Holm could not reject any of several contrasts however large. From ten seeds on both err to the safe side: what
    is of one seed and one item alone counts three times (weights of variance 1 multiplied: 2 x 2 - 1; doi.org/10.1214/07-AOAS122).
    """
    a, b = _same(a, b)
    counts = np.ones_like(a) if counts is None else np.asarray(counts, float)
    seeds, items = a.shape
    if seeds == 1:
        value, low, high = paired_difference(a[0], b[0], counts[0])
        if items == 1:
            return Difference(value, None, None, None, 1, 1)
        drawn = times_drawn(items, SAMPLES, 0)
        return Difference(value, low, high, _p(value, _error(drawn @ (a - b)[0] / (drawn @ counts[0]), items), items - 1), 1, items)
    if seeds < MANY:
        return by_seeds((a - b).sum(1) / counts.sum(1), items)
    value, low, high = scheme_mean(a - b, counts, SAMPLES)
    error = _error(resampled(a - b, counts, SAMPLES), seeds)
    return Difference(value, low, high, _p(value, error, seeds - 1), seeds, items)


def by_seeds(differences, items: int | None = None) -> Difference:
    """The mean of paired differences (seeds,), one per seed, with Student's t interval and p; one seed alone supports neither."""
    d = np.asarray(differences, float)
    if len(d) < 2:
        return Difference(float(d.mean()), None, None, None, len(d), items)
    value, (low, high) = float(d.mean()), t_interval(d)
    error = float(d.std(ddof=1) / np.sqrt(len(d)))
    return Difference(value, low, high, _p(value, error, len(d) - 1), len(d), items)


def holm(p) -> np.ndarray:
    """p values (contrasts,) adjusted so that the chance of any false one among them stays below the level, whatever their dependence.

    In ascending order, adjusted_k = max over i <= k of (m - i) p_i with i from 0, at most 1. Source: Holm 1979, jstor.org/stable/4615733.
    """
    p = np.asarray(p, float)
    order = np.argsort(p, kind="stable")
    adjusted = np.minimum(np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order]), 1)
    out = np.empty_like(p)
    out[order] = adjusted
    return out


def _error(resampled, n: int) -> float:
    """Standard error from resampled means of n values, whose spread is too narrow by sqrt((n - 1) / n)."""
    return float(np.std(resampled) * np.sqrt(n / (n - 1)))


def _p(value: float, error: float, degrees: int) -> float:
    """Where nothing varies, a difference is certain and none is none."""
    return two_sided(value / error, degrees) if error else float(value == 0)


def _same(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.shape != b.shape:
        raise ValueError(f"paired_difference needs the same items twice, got {a.shape} and {b.shape}")
    return a, b
