"""Orders of series: agreement of two, and the ranks that seeds leave open."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import friedmanchisquare, rankdata, spearmanr, ttest_rel

from extrap.results.findings.statistics import _of_units
from extrap.results.stats.ranks import (
    concordance,
    over_items,
    permutation_p,
    rank_intervals,
    spearman,
)


def test_spearman_is_that_of_scipy_with_ties_and_a_common_index():
    rng = np.random.default_rng(0)
    a, b = (pd.Series(rng.integers(0, 4, 9), list("abcdefghi")) for _ in range(2))
    assert spearman(a, b) == pytest.approx(spearmanr(a, b).statistic)
    assert spearman(a, b["i":"c":-1]) == pytest.approx(spearmanr(a["c":], b["c":]).statistic)


@pytest.mark.parametrize("values", [[1, 2], [3, 3, 3, 3]])
def test_what_has_no_order_has_no_correlation(values):
    series = pd.Series(values, dtype=float)
    assert np.isnan(spearman(series, series))


def test_rank_intervals_are_what_paired_t_tests_leave_open():
    rng = np.random.default_rng(1)
    means = [0.9, 0.88, 0.7, 0.7, 0.2]
    hard = rng.normal(0, 0.1, (5, 1))
    table = pd.DataFrame(means + hard + rng.normal(0, 0.02, (5, 5)), columns=list("abcde"))
    expected = {}
    for name in table:
        others = [other for other in table if other != name]
        told = [
            np.sign(table[name].mean() - table[other].mean())
            * (ttest_rel(table[name], table[other]).pvalue < 0.05)
            for other in others
        ]
        expected[name] = (1 + told.count(-1), 5 - told.count(1))
    assert rank_intervals(table) == expected
    assert expected["e"] == (5, 5)
    ranks = rankdata(-table.mean())
    assert all(
        low <= rank <= high for rank, (low, high) in zip(ranks, expected.values(), strict=True)
    )


def test_two_seeds_leave_every_rank_open():
    table = pd.DataFrame({"a": [0.9, 0.9], "b": [0.1, 0.1]})
    assert rank_intervals(table) == {"a": (1, 2), "b": (1, 2)}


def test_a_permutation_p_counts_all_orders_of_few_items():
    a, b = [0.1, 0.5, 0.3, 0.9, 0.7], [0.2, 0.4, 0.6, 0.8, 1.0]
    drawn = [abs(spearmanr(order, b).statistic) for order in permutations(a)]
    expected = np.mean(np.array(drawn) >= abs(spearmanr(a, b).statistic) - 1e-9)
    assert permutation_p(a, b) == pytest.approx(expected)
    assert permutation_p([a, a], [b, b]) == pytest.approx(expected)


def test_a_permutation_p_of_many_items_is_drawn():
    assert permutation_p(range(12), range(12)) < 1e-4
    other = [5, 6, 4, 7, 3, 8, 2, 9, 1, 10, 0, 11]
    assert permutation_p(range(12), other) == pytest.approx(
        spearmanr(range(12), other).pvalue, abs=0.02
    )


@pytest.mark.parametrize("seed", range(5))
def test_concordance_is_friedmans_statistic(seed):
    """W = chi2 / (m (n - 1)), ties included."""
    table = np.random.default_rng(seed).integers(0, 6, (7, 5))
    chi2 = friedmanchisquare(*table.T).statistic
    assert concordance(table) == pytest.approx(chi2 / (7 * 4))


def test_the_interval_of_an_order_lies_above_the_truth_as_rarely_as_it_says():
    """Eight units at a time; a bootstrap over units would lie above in every third case."""
    rng = np.random.default_rng(1)
    tables = np.arange(6.0) + 3 * rng.normal(size=(100, 8, 6))
    truth = concordance(tables.reshape(-1, 6))
    found = [_of_units("concordance", pd.DataFrame(table)) for table in tables]
    assert sum((one.value - one.down > truth).item() for one in found) < 10


def test_an_interval_over_values_covers_the_order_of_values_that_were_not_read():
    """Nine units agree on eight of many values: over units alone the interval misses the truth."""
    rng = np.random.default_rng(2)
    whole = rng.normal(size=600) + 0.5 * rng.normal(size=(9, 600))
    truth = concordance(whole)
    tables = [pd.DataFrame(whole[:, i : i + 8]) for i in range(0, 600, 8)]

    def share(statistic: str) -> float:
        found = [_of_units(statistic, table) for table in tables]
        covered = [(one.value - one.down <= truth) & (truth <= one.value + one.up) for one in found]
        return float(np.mean(covered))

    assert share("concordance_of_values") > 0.88
    assert share("concordance") < 0.8


@pytest.mark.parametrize("items, seeds", [(5, 1), (8, 1), (18, 1), (18, 3)])
def test_a_rank_correlation_covers_that_of_schemes_that_were_not_read(items, seeds):
    """Seeds alone, which are all alike but for their noise, cover it in .30 to .77."""
    rng, kept = np.random.default_rng(0), 0.8

    def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
        first = rng.normal(size=n)
        second = kept * first + np.sqrt(1 - kept**2) * rng.normal(size=n)
        return first, second

    def read(pair) -> float:
        noisy = (one + 0.3 * rng.normal(size=len(one)) for one in pair)
        return spearmanr(*noisy).statistic

    truth, covered = read(drawn(50_000)), 0
    for _ in range(200):
        pair = drawn(items)
        low, high = np.tanh(over_items([read(pair) for _ in range(seeds)], items).interval)
        covered += low <= truth <= high
    assert covered >= 184  # .92 of them, three standard errors below .95 at most


def test_three_schemes_support_no_interval_of_their_order():
    assert np.isnan(over_items([1.0, 1.0, 1.0], 3).half())
