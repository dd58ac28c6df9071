"""Statistics and verdicts of statements, on rows written by hand."""

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import norm, t, ttest_rel

from extrap.results.findings.design import limit
from extrap.results.findings.interval import learning
from extrap.results.findings.statement import FILE, read
from extrap.results.findings.verdict import findings
from extrap.results.rows import frame, write
from extrap.results.schema import SCHEMA
from extrap.results.stats.intervals import exact_share
from extrap.utils.errors import UserError
from tests.support.plausible import around, identity
from tests.support.plausible import row as plain

SEEDS = (0.30, 0.42, 0.39)
"""What RoPE finds at 4x, by seed."""


def row(scheme: str, seed: int, multiple: float, value: float | None, **more) -> dict:
    run = identity(scheme, seed, settings="0000", study="s", factor=1.0, commit="")
    run |= {"config": "x", "corpus": "c", "params": 170_000}
    bounds = {} if value is None else around(value, 0.1)
    found = plain("kv", "records", int(64 * multiple), "accuracy", depth=0.5, **bounds)
    return dict.fromkeys(SCHEMA) | {"axis": ""} | run | found | more


def judged(tmp_path, table: list[dict], **fields):
    told = {"id": "one", "says": "s", "source": "arXiv"} | fields
    (tmp_path / FILE).write_text(yaml.safe_dump({"statements": [told]}))
    return findings(tmp_path, frame(table))[0]


ROPE = [row("rope", seed, 4, value) for seed, value in enumerate(SEEDS)]
AT_4X = {"task": "kv", "scheme": "rope", "multiple": 4}


def test_the_interval_of_a_mean_has_the_error_of_seeds_and_that_of_trials(tmp_path):
    """Each row says that its trials leave it uncertain by .1 to both sides."""
    found = judged(tmp_path, ROPE, rows=AT_4X, below=0.5)
    error = np.std(SEEDS, ddof=1) / np.sqrt(3)
    half = np.hypot(t.ppf(0.975, 2) * error, 0.1)
    assert found.effect == pytest.approx(np.mean(SEEDS))
    assert (found.low, found.high) == pytest.approx((found.effect - half, found.effect + half))
    power = np.hypot(t.ppf(0.8, 2) * error, 0.1 * norm.ppf(0.8) / norm.ppf(0.975))
    assert found.detectable == pytest.approx(half + power, rel=1e-4)
    assert (found.seeds, found.runs, found.below) == (3, 3, 0)


def test_a_difference_of_the_same_trials_has_the_error_of_seeds_alone(tmp_path):
    rows = [*ROPE, *(row("rope", seed, 1, 0.9) for seed in range(3))]
    terms = [{"multiple": 1}, {"multiple": 4, "times": -1}]
    found = judged(tmp_path, rows, rows={"task": "kv"}, terms=terms, above=0)
    half = t.ppf(0.975, 2) * np.std(SEEDS, ddof=1) / np.sqrt(3)
    assert found.high - found.low == pytest.approx(2 * half)


@pytest.mark.parametrize(
    "bound, verdict",
    [
        ({"below": 0.6}, "holds"),
        ({"above": 0.6}, "fails"),
        ({"below": 0.1}, "fails"),
        ({"above": 0.1}, "holds"),
        ({"above": 0.4}, "undecided"),
        ({"below": 0.4}, "undecided"),
    ],
)
def test_an_interval_beyond_the_bound_decides_and_one_around_it_does_not(tmp_path, bound, verdict):
    found = judged(tmp_path, ROPE, rows=AT_4X, **bound)
    assert found.verdict == verdict
    assert ("MDE" in found.reason) == (verdict == "undecided")


def test_terms_are_weighted_and_paired_by_seed(tmp_path):
    rows = [*ROPE, *(row("rope", seed, 1, 0.9) for seed in (0, 1, 2, 7))]
    terms = [{"multiple": 4}, {"multiple": 1, "times": -0.5}]
    found = judged(tmp_path, rows, rows={"task": "kv"}, terms=terms, below=0)
    assert found.effect == pytest.approx(np.mean(SEEDS) - 0.45)
    assert found.seeds == 3, "seed 7 has one of the terms"


def test_one_seed_keeps_the_interval_of_its_trials(tmp_path):
    rows = [row("rope", 0, 4, 0.4, depth=d) for d in (0, 0.5)] + [row("rope", 0, 1, 0.9)]
    terms = [{"multiple": 4}, {"multiple": 1, "times": -1}]
    found = judged(tmp_path, rows, rows={"task": "kv"}, terms=terms, below=0)
    assert found.high - found.low == pytest.approx(2 * np.hypot(0.1, 0.1))
    assert found.verdict == "holds" and found.seeds == 1


def test_an_interval_of_one_seed_lies_as_its_rows_have_it(tmp_path):
    """Wilson's near 1 reaches down further than up, and a difference exchanges its sides."""
    near = {"low": 0.963, "high": 1.0}
    rows = [row("rope", 0, 4, 1.0, **near), row("rope", 0, 1, 0.9, low=0.7, high=0.95)]
    found = judged(tmp_path, rows, rows={"task": "kv"}, terms=[{"multiple": 4}], above=0.97)
    assert (found.low, found.high) == pytest.approx((0.963, 1.0)) and found.verdict == "undecided"
    terms = [{"multiple": 4}, {"multiple": 1, "times": -1}]
    found = judged(tmp_path, rows, rows={"task": "kv"}, terms=terms, above=0)
    assert (found.low, found.high) == pytest.approx((0.1 - np.hypot(0.037, 0.05), 0.3))


def test_every_combination_of_what_is_listed_must_be_there(tmp_path):
    rows = [*ROPE, *(row("rope", seed, 1, 0.9) for seed in range(3)), row("learned", 0, 1, 0.8)]
    listed = {"task": "kv", "scheme": ["rope", "learned"], "multiple": [1, 4]}
    assert judged(tmp_path, rows, rows=listed, below=0.5).verdict == "not measured"
    asked = {"statistic": "lowest", "over": "scheme"}
    assert judged(tmp_path, rows, rows=listed, below=0.5, **asked).verdict == "not measured"
    whole = [*rows, row("learned", 0, 4, 0.1)]
    assert judged(tmp_path, whole, rows=listed, below=0.7, **asked).effect == pytest.approx(0.45)


def test_a_seed_that_diverged_in_training_leaves_nothing_decided(tmp_path):
    ended = row("rope", 3, 1, 40, task="train", metric="diverged_at", status="diverged")
    ended |= {"length": None, "depth": None, "protocol": ""}
    found = judged(tmp_path, [*ROPE, ended], rows=AT_4X, below=0.6)
    assert found.verdict == "undecided" and f"{ended['run']} diverged" in found.reason
    other = ended | {"scheme": "alibi", "run": "alibi"}
    assert judged(tmp_path, [*ROPE, other], rows=AT_4X, below=0.6).verdict == "holds"


def test_two_seeds_support_no_verdict(tmp_path):
    found = judged(tmp_path, ROPE[:2], rows=AT_4X, below=0.9)
    assert found.verdict == "undecided" and "two seeds" in found.reason


@pytest.mark.parametrize("seeds", [3, 5, 6, 9])
def test_a_median_has_an_interval_from_six_seeds_on(tmp_path, seeds):
    """Of three seeds the range covers the median in three cases of four."""
    rows = [row("rope", seed, 4, 0.01 * seed) for seed in range(seeds)]
    found = judged(tmp_path, rows, rows=AT_4X, across="median", below=0.5)
    assert found.effect == pytest.approx(0.01 * (seeds - 1) / 2)
    assert found.verdict == ("holds" if seeds > 5 else "undecided")
    cut = {6: 0, 9: 1}
    if seeds in cut:
        ends = 0.01 * cut[seeds], 0.01 * (seeds - 1 - cut[seeds])
        assert (found.low, found.high) == pytest.approx(ends)


def test_a_deviation_compares_how_far_seeds_spread(tmp_path):
    """The readings of Brown and Forsythe's test, compared seed by seed."""
    rng = np.random.default_rng(3)
    groups = {"rope": 0.5 + 0.1 * rng.normal(size=10), "alibi": 0.9 + 0.01 * rng.normal(size=10)}
    rows = [row(name, seed, 4, x) for name, xs in groups.items() for seed, x in enumerate(xs)]
    terms = [{"scheme": "rope"}, {"scheme": "alibi", "times": -1}]
    asked = {"rows": {"task": "kv", "multiple": 4}, "terms": terms, "learned": False}
    found = judged(tmp_path, rows, **asked, across="deviation", above=0)
    a, b = (np.abs(xs - np.median(xs)) for xs in groups.values())
    assert found.effect == pytest.approx(a.mean() - b.mean())
    oracle = ttest_rel(a, b).confidence_interval()
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))
    assert found.verdict == "holds"
    moved = [row("rope", seed, 4, x + 3) for seed, x in enumerate(groups["rope"])] + rows[10:]
    again = judged(tmp_path, moved, **asked, across="deviation", above=0)
    assert again.effect == pytest.approx(found.effect)  # the means play no part


def test_sizes_are_words_for_numbers_of_parameters_and_compared_by_number(tmp_path):
    sizes = {"small": 170_000, "middle": 1_000_000, "large": 4_000_000}
    rows = [
        row("rope", 0, 4, 0.1 * (i + 1), params=params, run=f"rope-{i}-s0")
        for i, params in enumerate(sizes.values())
    ]
    for i, word in enumerate(sizes):
        found = judged(tmp_path, rows, rows={**AT_4X, "params": word}, above=0)
        assert found.effect == pytest.approx(0.1 * (i + 1))
    found = judged(tmp_path, rows, rows=AT_4X, statistic="spread", over="size", above=0.1)
    assert found.effect == pytest.approx(0.2)


@pytest.mark.parametrize(
    "below, learned, verdict",
    [
        (1, None, "holds"),
        (1, True, "premise not met"),
        (2, None, "premise not met"),
        (3, False, "holds"),
    ],
)
def test_nothing_is_said_of_what_most_runs_have_not_learned(tmp_path, below, learned, verdict):
    rows = [one | {"status": "not trained" if one["seed"] < below else "ok"} for one in ROPE]
    more = {} if learned is None else {"learned": learned}
    found = judged(tmp_path, rows, rows=AT_4X, below=0.9, **more)
    assert (found.seeds, found.below, found.verdict) == (3, below, verdict)
    assert ("without this premise" in found.reason) == (learned is None and verdict != "holds")


def test_a_seed_that_diverged_leaves_the_statement_undecided(tmp_path):
    lost = row("rope", 2, 4, None, status="diverged")
    found = judged(tmp_path, [*ROPE[:2], lost], rows=AT_4X, below=0.9)
    assert found.verdict == "undecided" and "seed 2" in found.reason


@pytest.mark.parametrize(
    "asked, reason",
    [
        ({"task": "nll"}, "task=nll"),
        ({"task": "kv", "multiple": [4, 16]}, "multiple=4/16"),
        ({"task": "kv", "scheme": ["rope", "fire"]}, "scheme=rope/fire"),
    ],
)
def test_what_is_not_there_is_not_measured_and_named(tmp_path, asked, reason):
    found = judged(tmp_path, ROPE, rows=asked, above=0)
    assert found.verdict == "not measured" and reason in found.reason


@pytest.mark.parametrize("seed", [0, 9])
def test_runs_of_two_settings_are_not_averaged_in_silence(tmp_path, seed):
    other = row("rope", seed, 4, 0.9, run=f"rope-1111-s{seed}")
    found = judged(tmp_path, [*ROPE, other], rows=AT_4X, above=0)
    assert found.verdict == "not measured" and f"rope-1111-s{seed}" in found.reason


def test_without_rows_nothing_is_measured(tmp_path):
    told = {"id": "one", "says": "s", "source": "a", "rows": AT_4X, "above": 0}
    (tmp_path / FILE).write_text(yaml.safe_dump({"statements": [told]}))
    assert [one.verdict for one in findings(tmp_path, None)] == ["not measured"]
    assert [one.verdict for one in findings(tmp_path, pd.DataFrame())] == ["not measured"]
    assert read(tmp_path)[0].claim == "> 0"


@pytest.mark.parametrize("place", ["s", "whole/s"])
def test_a_statement_reads_another_study_only_where_it_names_it(tmp_path, place):
    """RoPE of this study finds .3 to .42, of the other .8."""
    beside = [row("rope", seed, 4, 0.8, study="other") for seed in range(3)]
    write(tmp_path / "other" / "rows" / "a.csv", beside)
    mine = tmp_path / place
    mine.mkdir(parents=True)
    if mine.parent != tmp_path:
        (mine.parent / "rows").mkdir()
    terms = [{"study": "other"}, {"times": -1}]
    found = judged(mine, ROPE, rows=AT_4X, terms=terms, above=0)
    assert found.effect == pytest.approx(0.8 - np.mean(SEEDS)) and found.verdict == "holds"
    with pytest.raises(UserError, match="nowhere"):
        judged(mine, ROPE, rows=AT_4X | {"study": "../nowhere"}, above=0)


def test_weights_over_logarithms_are_the_power_of_a_law(tmp_path):
    powers = (-1.1, -1.0, -0.9)
    rows = [
        row(f"rope_width{width}", seed, 1, width**power, low=None, high=None)
        for width in (4, 16) for seed, power in enumerate(powers)
    ]  # fmt: skip
    slope = float(1 / np.log(4))
    terms = [{"width": 4, "times": -slope}, {"width": 16, "times": slope}]
    of_rope = AT_4X | {"multiple": 1}
    found = judged(tmp_path, rows, rows=of_rope, terms=terms, log=True, below=-0.75)
    half = t.ppf(0.975, 2) * 0.1 / np.sqrt(3)
    assert (found.effect, found.low) == pytest.approx((-1, -1 - half))


GATES = {"task": "kv", "metric": "gate", "multiple": 1}


def gates(values) -> list[dict]:
    return [
        row("rope", seed, 1, value, metric="gate", depth=None, low=None, high=None)
        | {"status": "ok" if value >= 0.9 else "not trained"}
        for seed, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    "values, bound, verdict",
    [
        ((0.98, 0.99, 1.0), {"above": 0.9}, "undecided"),
        ((0.98, 0.99, 0.2), {"above": 0.9}, "undecided"),
        ((0.2, 0.3, 0.25), {"above": 0.9}, "fails"),
        ((0.2, 0.3, 0.25), {"above": 0.5}, "undecided"),
        ((0.98, 0.99, 1.0) * 16, {"above": 0.9}, "holds"),
    ],
)
def test_a_few_seeds_that_learn_do_not_show_that_all_do(tmp_path, values, bound, verdict):
    """Three of three leave a share of .29 to 1, none of three one of 0 to .71."""
    found = judged(tmp_path, gates(values), rows=GATES, learned=False, **bound)
    assert found.verdict == verdict
    assert found.low <= found.effect <= found.high


def test_the_interval_of_gates_is_that_of_the_share_of_seeds_that_learn():
    (low, high), _ = learning([0.98, 1.0, 0.2])
    share = exact_share(2, 3)
    assert (low, high) == pytest.approx([0.2 + one * (0.99 - 0.2) for one in share])
    (low, high), _ = learning([0.98, 1.0, 0.99])
    assert (low, high) == pytest.approx((0.99 * exact_share(3, 3)[0], 0.99))


def test_a_difference_of_gates_is_a_mean_as_any_other(tmp_path):
    rows = [*gates((0.98, 0.99, 1.0)), *(row("alibi", seed, 1, 0.2, metric="gate", depth=None)
                                         for seed in range(3))]  # fmt: skip
    terms = [{"scheme": "rope"}, {"scheme": "alibi", "times": -1}]
    found = judged(tmp_path, rows, rows=GATES, terms=terms, learned=False, above=0.5)
    assert found.verdict == "holds"


@pytest.mark.parametrize(
    "seeds, more, said",
    [
        (3, {"rows": GATES, "above": 0.9}, "3 seeds that come out alike"),
        (48, {"rows": GATES, "above": 0.9}, ""),
        (2, {"rows": AT_4X, "above": 0.9}, "two seeds"),
        (5, {"rows": AT_4X, "above": 0.9, "across": "median"}, "a median of 5 seeds"),
        (1, {"rows": AT_4X, "above": 2, "statistic": "rank", "over": "scheme", "of": "t5"}, "rank"),
        (1, {"rows": AT_4X, "above": 0.9}, ""),
        (5, {"rows": AT_4X, "above": 0.9}, ""),
    ],
)
def test_a_design_that_cannot_decide_says_so_before_any_row(tmp_path, seeds, more, said):
    told = {"id": "one", "says": "s", "source": "a"} | more
    (tmp_path / FILE).write_text(yaml.safe_dump({"statements": [told]}))
    found = limit(read(tmp_path)[0], seeds)
    assert said in found and bool(said) == bool(found)


def test_the_p_of_a_bound_is_small_where_the_interval_excludes_it(tmp_path):
    for bound, decided in ((0.6, True), (0.4, False), (0.1, True)):
        found = judged(tmp_path, ROPE, rows=AT_4X, below=bound)
        assert (found.p < 0.05) == decided


def test_of_a_whole_and_its_depths_a_statement_reads_the_whole(tmp_path):
    """Items at depths are some of those in the row of the whole."""
    depths = [row("rope", seed, 4, 0.9, depth=at) for seed in range(3) for at in (0, 0.5, 1)]
    whole = [row("rope", seed, 4, value, depth=None) for seed, value in enumerate(SEEDS)]
    found = judged(tmp_path, [*whole, *depths], rows=AT_4X, below=0.5)
    assert found.effect == pytest.approx(np.mean(SEEDS))


def test_runs_of_seeds_that_are_not_compared_say_nothing_of_the_premise(tmp_path):
    lost = [row("rope", seed, 4, 0.1, status="not trained") for seed in range(3, 10)]
    other = [row("alibi", seed, 4, 0.8) for seed in range(3)]
    terms = [{"scheme": "alibi"}, {"scheme": "rope", "times": -1}]
    asked = {"rows": {"task": "kv", "multiple": 4}, "terms": terms, "above": 0}
    found = judged(tmp_path, [*ROPE, *lost, *other], **asked)
    assert (found.verdict, found.seeds, found.runs, found.below) == ("holds", 3, 6, 0)


def test_a_diverged_reading_does_not_fall_out_of_the_greatest(tmp_path):
    rows = [row(name, seed, 4, 0.3) for name in ("rope", "alibi") for seed in range(4)]
    rows[-1] |= {"value": None, "low": None, "high": None, "status": "diverged"}
    contrasts = [[{"scheme": "rope"}], [{"scheme": "alibi"}]]
    asked = {"rows": {"task": "kv", "multiple": 4}, "contrasts": contrasts, "below": 0.5}
    assert judged(tmp_path, rows, statistic="greatest", **asked).verdict == "undecided"


def test_a_bound_that_no_share_of_seeds_meets_has_no_chance():
    """Seeds at .7, none of which passes, and all that pass have at least .9."""
    _, chance = learning([0.7, 0.72, 0.71, 0.7, 0.7], 0.5)
    assert chance == 0
    _, chance = learning([0.97] * 4, 0.95)
    assert 0 < chance <= 1
    _, chance = learning([0.95] * 4, 0.97)
    assert chance == 0
