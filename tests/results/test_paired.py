"""Paired differences against scipy, and how often Holm's contrasts are wrong."""

import numpy as np
import pytest
import scipy.stats

from extrap.results.stats import crossed, paired
from extrap.results.stats.intervals import bootstrap_mean


def test_a_difference_is_token_weighted():
    found = paired.by_items([[4.0, 3.0]], [[2.0, 0.0]], [[2.0, 3.0]])
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


def test_one_seed_is_resampled_over_items():
    rng = np.random.default_rng(0)
    a, b = rng.random((1, 80)), rng.random((1, 80))
    found = paired.by_items(a, b)
    assert found.value == pytest.approx((a - b).mean())
    assert (found.low, found.high) == bootstrap_mean((a - b)[0], np.ones(80))
    assert (found.seeds, found.items) == (1, 80)
    far, same = paired.by_items(a + 1, b), paired.by_items(a, a)
    assert far.p < 0.01 < 0.05 < found.p <= 1
    assert (same.value, same.low, same.high, same.p) == (0, 0, 0, 1)
    assert found.p == pytest.approx(scipy.stats.ttest_rel(a[0], b[0]).pvalue, rel=0.1)
    for shift in (-0.2, -0.1, 0.1, 0.2):
        moved = paired.by_items(a + shift, b)
        assert (moved.p < 0.05) == (moved.low > 0 or moved.high < 0)


@pytest.mark.parametrize("seeds", [2, 3])
def test_documents_without_a_scored_token_are_no_items(seeds):
    rng = np.random.default_rng(seeds)
    counts = np.zeros((seeds, 64))
    counts[:, :6] = 3
    noise = rng.normal(size=(seeds, 64)) * counts
    found = paired.by_items(noise, 0 * noise, counts)
    alone = paired.by_items(noise[:, :6], 0 * noise[:, :6], counts[:, :6])
    assert (found.p, found.low, found.high) == (alone.p, alone.low, alone.high)
    counts[:, 1:] = 0
    assert np.isnan(paired.by_items(noise * (counts > 0), 0 * noise, counts).p)


@pytest.mark.parametrize("known", [1, 6])
def test_noise_of_few_documents_is_no_certain_difference(known):
    """Of 64 documents, few hold a token that is scored."""
    counts = np.zeros((1, 64))
    counts[0, :known] = 3
    noise = np.random.default_rng(known).normal(size=(1, 64)) * counts
    found = paired.by_items(noise, np.zeros((1, 64)), counts)
    if known == 1:
        assert np.isnan(found.p) and np.isnan(found.low)
    else:
        assert found.p > 0.05 and found.low < 0 < found.high


def test_one_item_of_one_seed_supports_nothing_and_ten_seeds_without_spread_are_certain():
    assert paired.by_items([[0.75]], [[0.5]]) == paired.Difference(0.25, None, None, None, 1, 1)
    certain = paired.by_items(np.full((10, 4), 0.5), np.zeros((10, 4)))
    assert (certain.value, certain.low, certain.high, certain.p) == (0.5, 0.5, 0.5, 0)
    assert certain.detectable == 0


@pytest.mark.parametrize("seeds", [2, 3, 5, 9])
def test_means_of_seeds_are_the_paired_t_test(seeds):
    rng = np.random.default_rng(seeds)
    a, b = rng.normal(40, 3, (2, seeds, 50)) + rng.normal(0, 1, (2, seeds, 1))
    found = paired.by_seeds((a - b).mean(1))
    expected = scipy.stats.ttest_rel(a.mean(1), b.mean(1))
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.seeds, found.items) == (seeds, None)
    assert (found.fixed_low, found.fixed_high) == (found.low, found.high)


@pytest.mark.parametrize("seeds", [2, 3, 10])
def test_several_seeds_have_the_error_of_items_too_and_show_both(seeds):
    rng = np.random.default_rng(1)
    a = rng.normal(0, 1, (1, 40)) + rng.normal(0, 0.3, (seeds, 40)) + rng.normal(0, 0.1, (seeds, 1))
    for shift in (-1, -0.3, -0.1, 0.1, 0.3, 1):
        found = paired.by_items(a + shift, np.zeros_like(a))
        assert (found.low, found.high) == crossed.over_both(a + shift).interval
        assert (found.p < 0.05) == (found.low > 0 or found.high < 0)
        alone = paired.by_seeds((a + shift).mean(1))
        assert (found.fixed_low, found.fixed_high) == pytest.approx((alone.low, alone.high))
        assert found.low < found.fixed_low and found.fixed_high < found.high


def test_one_seed_without_items_supports_no_interval():
    assert paired.by_seeds([0.25]) == paired.Difference(0.25, None, None, None, 1, None)
    same = paired.by_seeds([0.5, 0.5])
    assert (same.low, same.high, same.p) == (0.5, 0.5, 0)


def test_holm_by_its_definition():
    np.testing.assert_allclose(paired.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(paired.holm([0.6, 0.9]), [1, 1])
    p = np.random.default_rng(2).random(7)
    # Rejected step by step: the smallest against a/m, the next against a/(m - 1), until one is not.
    for level in np.linspace(0.01, 0.99, 50):
        rejected = set()
        for i, which in enumerate(np.argsort(p)):
            if p[which] * (7 - i) > level:
                break
            rejected.add(which)
        assert set(np.flatnonzero(paired.holm(p) <= level)) == rejected


@pytest.mark.parametrize("seed", range(3))
def test_the_rate_of_false_discoveries_is_that_of_scipy(seed):
    p = np.random.default_rng(seed).random(17) ** 3
    expected = scipy.stats.false_discovery_control(p)
    assert paired.benjamini_hochberg(p) == pytest.approx(expected)
    assert all(paired.benjamini_hochberg(p) <= paired.holm(p) + 1e-12)
