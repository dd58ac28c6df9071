"""Two levels and clusters: against plain intervals where these hold, by double loops, and by how often they hold the truth."""

import numpy as np
import pytest
import scipy.stats

from extrap.results.stats import multilevel as levels


def test_below_ten_seeds_the_means_of_seeds_speak():
    sums = np.random.default_rng(0).normal(3, 1, (5, 30))
    mean, low, high = levels.scheme_mean(sums)
    means = sums.mean(1)
    assert mean == pytest.approx(means.mean())
    assert (low, high) == pytest.approx(scipy.stats.t.interval(0.95, 4, means.mean(), scipy.stats.sem(means)))


def test_from_ten_seeds_on_both_levels_are_resampled():
    rng = np.random.default_rng(1)
    sums, counts = rng.normal(3, 1, (10, 30)), rng.integers(1, 9, (10, 30)).astype(float)
    assert levels.scheme_mean(sums, counts)[1:] == levels.two_level(sums, counts)
    assert levels.scheme_mean(sums, counts)[0] == pytest.approx(np.mean(sums.sum(1) / counts.sum(1)))


def test_a_resample_draws_seeds_and_then_the_same_items_for_all_of_them():
    rng = np.random.default_rng(2)
    sums, counts = rng.random((10, 7)), rng.integers(1, 5, (10, 7)).astype(float)
    found = levels.resampled(sums, counts, samples=20, seed=3)
    seeds = np.random.default_rng(3).multinomial(10, [0.1] * 10, size=20)
    items = np.random.default_rng(4).multinomial(7, [1 / 7] * 7, size=20)
    for r in range(20):
        total = tokens = 0
        for s in range(10):
            for i in range(7):
                total += seeds[r, s] * items[r, i] * sums[s, i]
                tokens += seeds[r, s] * items[r, i] * counts[s, i]
        assert found[r] == pytest.approx(total / tokens)


def test_the_cut_is_wider_than_a_percentile_and_tends_to_it():
    cuts = [levels.expanded(n) for n in (10, 20, 100, 10000)]
    assert cuts == sorted(cuts)
    assert cuts[0] == pytest.approx(scipy.stats.norm.cdf(-np.sqrt(10 / 9) * scipy.stats.t.ppf(0.975, 9)))
    assert cuts[-1] == pytest.approx(0.025, abs=1e-4)


@pytest.mark.parametrize("shape", [(3,), (0, 4), (2, 0)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="one shape"):
        levels.scheme_mean(np.zeros(shape))


def test_one_seed_tells_nothing_about_a_scheme():
    for interval in (levels.scheme_mean, levels.two_level):
        with pytest.raises(ValueError, match="at least two"):
            interval(np.zeros((1, 5)))


def test_clusters_of_one_item_are_students_interval():
    values = np.random.default_rng(3).normal(2, 1, 40)
    expected = scipy.stats.t.interval(0.95, 39, values.mean(), scipy.stats.sem(values))
    assert levels.clustered(values, np.ones(40), np.arange(40))[1:] == pytest.approx(expected)


def test_clusters_of_one_size_are_the_interval_of_their_means():
    values = np.random.default_rng(4).normal(2, 1, (12, 5))
    context = np.repeat([f"context {i}" for i in range(12)], 5)
    means = values.mean(1)
    expected = scipy.stats.t.interval(0.95, 11, means.mean(), scipy.stats.sem(means))
    assert levels.clustered(values.ravel(), np.ones(60), context) == pytest.approx((means.mean(), *expected))
    with pytest.raises(ValueError, match="two clusters"):
        levels.clustered(values[0], np.ones(5), np.zeros(5))


def held(intervals, truth=0.0):
    return np.mean([low <= truth <= high for low, high in intervals])


def test_two_levels_hold_the_truth_where_seeds_items_or_both_vary():
    """Percentiles of ten seeds alone would hold it 91 % of the time. Owen's bootstrap counts noise up to three times: never less."""
    rng, runs = np.random.default_rng(5), 400
    slack = 3 * np.sqrt(0.95 * 0.05 / runs)
    for of_seeds, of_items, noise in ((1, 0, 0), (0.3, 1, 0.3), (0.5, 0.5, 1)):
        found = [
            levels.two_level(
                rng.normal(0, of_seeds, (10, 1)) + rng.normal(0, of_items, (1, 40)) + rng.normal(0, noise, (10, 40)), samples=500
            )
            for _ in range(runs)
        ]
        assert 0.95 - slack <= held(found) <= 0.99, (of_seeds, of_items, noise)


def test_clusters_hold_the_truth_where_items_of_a_context_agree():
    rng, runs = np.random.default_rng(6), 1000
    context = np.repeat(np.arange(30), 6)
    drawn = [np.repeat(rng.normal(0, 1, 30), 6) + rng.normal(0, 0.3, 180) for _ in range(runs)]
    slack = 3 * np.sqrt(0.95 * 0.05 / runs)
    assert abs(held([levels.clustered(x, np.ones(180), context)[1:] for x in drawn]) - 0.95) < slack
    assert held([levels.clustered(x, np.ones(180), np.arange(180))[1:] for x in drawn]) < 0.7
