"""Intervals against scipy, by their definition, and by how often they hold the truth."""

import numpy as np
import pytest
import scipy.stats

from extrap.results.stats import intervals as stats


@pytest.mark.parametrize("n", [1, 2, 10, 50, 200, 1000])
def test_wilson_is_scipys(n):
    successes = np.unique(np.linspace(0, n, 21).astype(int))
    low, high = stats.wilson(successes, n)
    expected = [scipy.stats.binomtest(int(k), n).proportion_ci(method="wilson") for k in successes]
    np.testing.assert_allclose(low, [e.low for e in expected], atol=1e-12)
    np.testing.assert_allclose(high, [e.high for e in expected], atol=1e-12)
    assert (low <= successes / n).all()
    assert (high >= successes / n).all()


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (0, 0)])
def test_wilson_refuses_impossible_counts(successes, n):
    with pytest.raises(ValueError, match="wilson needs"):
        stats.wilson(successes, n)


@pytest.mark.parametrize("n", [1, 3, 5, 10, 48])
def test_an_exact_share_is_scipys(n):
    expected = [scipy.stats.binomtest(k, n).proportion_ci(method="exact") for k in range(n + 1)]
    found = [stats.exact_share(k, n) for k in range(n + 1)]
    assert np.allclose(found, [(one.low, one.high) for one in expected])


@pytest.mark.parametrize("learns", [0.3, 0.7, 0.9])
def test_an_exact_share_of_three_seeds_covers_the_truth(learns):
    """Student's interval of three seeds, of which each learns or not, covers it in .26 to .63."""
    chances = [scipy.stats.binom.pmf(k, 3, learns) for k in range(4)]
    ends = [stats.exact_share(k, 3) for k in range(4)]
    covered = [low <= learns <= high for low, high in ends]
    assert np.dot(chances, covered) >= 0.95


@pytest.mark.parametrize("successes, n", [(-1, 3), (4, 3), (0, 0)])
def test_an_exact_share_refuses_impossible_counts(successes, n):
    with pytest.raises(ValueError, match="exact_share needs"):
        stats.exact_share(successes, n)


def test_t_interval_is_scipys():
    values = np.random.default_rng(0).normal(3, 2, (5, 4))
    expected = scipy.stats.t.interval(0.95, 4, values.mean(0), scipy.stats.sem(values))
    np.testing.assert_allclose(stats.t_interval(values), expected, rtol=1e-12)
    assert stats.t_interval(values[:, 0]) == pytest.approx([e[0] for e in expected])


def test_bootstrap_of_a_ratio_of_sums_agrees_with_scipy():
    rng = np.random.default_rng(1)
    counts = rng.integers(20, 400, 64).astype(float)
    sums = counts * rng.normal(2, 0.5, 64)
    ours = stats.bootstrap_mean(sums, counts, samples=20000)
    theirs = scipy.stats.bootstrap(
        (sums, counts),
        lambda s, c, axis: s.sum(axis) / c.sum(axis),
        paired=True,
        method="percentile",
        n_resamples=20000,
        rng=np.random.default_rng(2),
        vectorized=True,
    ).confidence_interval
    np.testing.assert_allclose(ours, theirs, atol=0.01)
    assert ours[0] < sums.sum() / counts.sum() < ours[1]


def test_few_documents_have_students_interval_and_one_has_none():
    rng = np.random.default_rng(4)
    losses = rng.normal(2, 1, (5, 3))
    expected = scipy.stats.t.interval(0.95, 4, losses.mean(0), scipy.stats.sem(losses))
    np.testing.assert_allclose(stats.bootstrap_mean(losses, np.ones_like(losses)), expected)
    assert np.isnan(stats.bootstrap_mean([3.0], [1.0])).all()
    assert np.isnan(stats.bootstrap_of(lambda means: means[:, 0], losses)).all()


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_few_documents_of_unequal_lengths_hold_the_truth(n):
    """Percentiles of so few hold it in 50 to 90 of 100."""
    rng = np.random.default_rng(n)
    counts = rng.integers(60, 120, (n, 4000)).astype(float)
    low, high = stats.bootstrap_mean(counts * rng.normal(2, 1, (n, 4000)), counts)
    assert 0.93 < ((low <= 2) & (high >= 2)).mean() < 0.97


def test_bootstrap_is_seeded_and_shares_resamples_between_columns():
    rng = np.random.default_rng(3)
    sums, counts = rng.random((32, 3)), np.ones((32, 3))
    low, high = stats.bootstrap_mean(sums, counts)
    stats.times_drawn.cache_clear()
    np.testing.assert_array_equal(stats.bootstrap_mean(sums, counts), (low, high))
    assert stats.bootstrap_mean(sums[:, 1], counts[:, 1]) == pytest.approx((low[1], high[1]))


def test_bootstrap_of_a_statistic_is_that_of_its_resampled_means():
    values = np.random.default_rng(3).random((12, 3))
    low, high = stats.bootstrap_mean(values, np.ones_like(values))
    for column in range(3):
        assert stats.bootstrap_of(lambda means, column=column: means[:, column], values) == (
            low[column],
            high[column],
        )
    resampled = [
        values[np.random.default_rng(i).integers(12, size=12)].mean(0).max() for i in range(4000)
    ]
    tail = 100 * stats.expanded(12)
    assert stats.bootstrap_of(lambda means: means.max(1), values) == pytest.approx(
        np.percentile(resampled, [tail, 100 - tail]), abs=0.02
    )


@pytest.mark.parametrize("n", [2, 5, 12, 100])
def test_percentiles_are_expanded_as_in_the_paper(n):
    t = scipy.stats.t.ppf(0.975, n - 1)
    assert stats.expanded(n) == pytest.approx(scipy.stats.norm.cdf(-np.sqrt(n / (n - 1)) * t))
    assert stats.expanded(1) == pytest.approx(0.025)


DEPTHS = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)


def test_depth_summaries_of_a_known_curve():
    curve = np.array([1.0, 0.9, 0.5, 0.3, 0.4, 0.7, 0.8])
    values = {
        name: float(contrast @ curve) for name, contrast in stats.depth_contrasts(DEPTHS).items()
    }
    assert values == pytest.approx(
        {"mid": 0.4, "primacy": 0.6, "recency": 0.4, "u_depth": 0.5, "tilt": -0.2}
    )


@pytest.mark.parametrize("depths", [(0.1, 0.5, 1), (0, 0.5, 0.9), (0, 0.1, 0.9, 1)])
def test_depths_without_an_end_or_a_middle_are_refused(depths):
    with pytest.raises(ValueError, match="U curve needs"):
        stats.depth_contrasts(depths)


@pytest.mark.parametrize("between", [1, 3, 6, 7, 10])
def test_a_middle_in_which_all_is_right_has_wilsons_interval(between):
    depths = [0, *np.linspace(0.25, 0.75, between), 1]
    found = stats.depth_summaries(np.ones((100, len(depths))), depths)["mid"]
    assert found == pytest.approx((1.0, *stats.wilson(100, 100)))


def test_depth_summaries_resample_trials_with_all_their_depths():
    rng = np.random.default_rng(6)
    # A trial is right at every depth or wrong at every depth: contrasts are exact although
    # accuracies are not.
    correct = np.repeat(rng.random((200, 1)) < 0.5, len(DEPTHS), axis=1)
    found = stats.depth_summaries(correct, DEPTHS)
    assert found["primacy"] == pytest.approx((0, 0, 0))
    assert found["mid"][2] - found["mid"][1] > 0.1
    expected = scipy.stats.bootstrap(
        (correct[:, 3],), np.mean, method="percentile", rng=np.random.default_rng(7)
    ).confidence_interval
    np.testing.assert_allclose(found["mid"][1:], expected, atol=0.015)


def test_a_share_that_is_whole_is_no_certainty():
    everything, nothing = np.ones((12, 7)), np.zeros((12, 7))
    assert stats.bootstrap_share(everything) == (
        1,
        *stats.wilson(12, 12),
    ) and stats.bootstrap_share(nothing) == (0, *stats.wilson(0, 12))
    some = np.random.default_rng(0).random((50, 7)) < 0.7
    assert stats.bootstrap_share(some) == (
        some.mean(),
        *stats.bootstrap_mean(some.sum(1), np.full(50, 7)),
    )


def test_one_seed_supports_no_interval():
    """Without a warning of numpy, which tests turn into an error."""
    assert np.isnan(stats.t_interval([0.3])).all()
    assert np.isnan(stats.t_interval([[0.3, 0.4]])).all()


def test_documents_without_a_scored_token_move_no_interval():
    rng = np.random.default_rng(0)
    for known in (1, 4, 20):
        counts = rng.integers(1, 9, known).astype(float)
        sums = rng.random(known) * counts
        padded = [np.append(one, np.zeros(40)) for one in (sums, counts)]
        alone, among = stats.bootstrap_mean(sums, counts), stats.bootstrap_mean(*padded)
        np.testing.assert_array_equal(alone, among)
        assert np.isnan(among).all() == (known == 1)


@pytest.mark.parametrize("known", [3, 40])
def test_nats_without_a_byte_move_the_interval_with_the_value(known):
    """A token inside a character has no bytes of its own."""
    sums = np.ones(2 * known)
    counts = np.repeat([2.0, 0.0], known)
    low, high = stats.bootstrap_mean(sums, counts)
    assert low < sums.sum() / counts.sum() < high < np.inf
