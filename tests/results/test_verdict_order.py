"""Statements over a column: extremes, ranks, orders, contrasts, and units of several runs."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from extrap.results.findings import statistics
from tests.results.test_verdict import judged, row

SCHEMES = {"rope": 0.2, "alibi": 0.6, "t5": 0.5, "nope": 0.3}


MANY = [
    row(scheme, seed, multiple, value + 0.01 * seed * (scheme == "rope") - 0.1 * (multiple == 8))
    for scheme, value in SCHEMES.items()
    for seed in range(3)
    for multiple in (4, 8)
]


@pytest.mark.parametrize(
    "statistic, values",
    [("spread", (0.4, 0.39, 0.38)), ("lowest", (0.2, 0.21, 0.22)), ("highest", (0.6, 0.6, 0.6))],
)
def test_over_a_column_the_extremes_of_each_seed_are_taken(tmp_path, statistic, values):
    asked = {"task": "kv", "multiple": 4, "scheme": list(SCHEMES)}
    found = judged(tmp_path, MANY, rows=asked, statistic=statistic, over="scheme", above=0)
    assert found.effect == pytest.approx(np.mean(values))
    assert found.runs == 12


def test_a_rank_counts_from_the_lowest_number(tmp_path):
    asked = {"task": "kv", "multiple": 4}
    more = {"statistic": "rank", "over": "scheme", "of": "t5"}
    assert judged(tmp_path, MANY, rows=asked, above=0, **more).effect == 3


def test_a_rank_among_fewer_schemes_is_no_rank_of_the_seed(tmp_path):
    cut = [r for r in MANY if (r["scheme"], r["seed"]) != ("rope", 2)]
    asked = {"rows": {"task": "kv", "multiple": 4}, "over": "scheme", "above": 0}
    found = judged(tmp_path, cut, statistic="rank", of="t5", **asked)
    assert found.verdict == "undecided" and "seed 2 has no finite number" in found.reason
    assert judged(tmp_path, cut, statistic="lowest", **asked).reason == found.reason


def test_equal_means_of_different_numbers_are_tied(tmp_path):
    """The mean of .72, .6, .5 and .34 is an ulp below .54."""
    one = [(0.54,) * 4, (0.72, 0.6, 0.5, 0.34), (0.6,) * 4]
    values = {1: one, 8: [(0.2,) * 4, (0.3,) * 4, (0.9,) * 4]}
    rows = [
        row(f"scheme-{i}", seed, multiple, value) | {"depth": depth}
        for multiple, schemes in values.items()
        for i, depths in enumerate(schemes)
        for depth, value in enumerate(depths)
        for seed in range(3)
    ]
    more = {"statistic": "rank_correlation", "over": "scheme"}
    terms = [{"multiple": 1}, {"multiple": 8}]
    found = judged(tmp_path, rows, rows={"task": "kv"}, terms=terms, above=0, **more)
    assert found.effect == pytest.approx(spearmanr([1, 1, 2], [1, 2, 3]).statistic)


@pytest.mark.parametrize("items, verdict", [(5, "undecided"), (6, "holds")])
def test_one_order_of_five_in_every_seed_may_be_chance(tmp_path, items, verdict):
    """The seeds agree on .9 in both; of five items chance gives that in one case of twelve."""
    order = [1, 0, *range(2, items)]
    rows = [
        row(f"scheme-{i}", seed, multiple, value[i])
        for multiple, value in ((1, range(items)), (8, order))
        for i in range(items)
        for seed in range(3)
    ]
    more = {"statistic": "rank_correlation", "over": "scheme"}
    terms = [{"multiple": 1}, {"multiple": 8}]
    found = judged(tmp_path, rows, rows={"task": "kv"}, terms=terms, above=-0.3, **more)
    assert found.low > -0.3 and found.verdict == verdict
    assert ("p 0.083" in found.reason) == (verdict == "undecided")


@pytest.mark.parametrize("statistic, value", [("least", 0.1), ("greatest", 0.4)])
def test_of_several_contrasts_one_is_taken_in_each_seed(tmp_path, statistic, value):
    contrasts = [
        [{"scheme": "alibi"}, {"scheme": "rope", "times": -1}],
        [{"scheme": "alibi"}, {"scheme": "t5", "times": -1}],
    ]
    rows = [one for one in MANY if one["seed"] == 0]
    asked = {"task": "kv", "multiple": 4}
    more = {"statistic": statistic, "contrasts": contrasts}
    assert judged(tmp_path, rows, rows=asked, above=0, **more).effect == pytest.approx(value)


def recipes() -> list[dict]:
    """Two seeds of two schemes under four recipes: RoPE 0.1 i, ALiBi .2 more, .02 between seeds."""
    return [
        row(f"{scheme}_layers{layers}_heads2_lr{lr}", seed, 4, 0.1 * i + more + 0.02 * seed)
        | {"run": f"{scheme}-{layers}{lr}-s{seed}"}
        for i, (layers, lr) in enumerate([(2, 0.003), (2, 0.0015), (4, 0.003), (4, 0.0015)])
        for scheme, more in (("rope", 0.0), ("alibi", 0.2))
        for seed in (0, 1)
    ]


def test_a_unit_is_one_reading_with_its_seeds_averaged(tmp_path):
    terms = [{"scheme": "rope", "layers": 4}, {"scheme": "rope", "layers": 2, "times": -1}]
    fields = {"rows": {"task": "kv"}, "terms": terms, "unit": ["lr"], "above": 0.1}
    found = judged(tmp_path, recipes(), learned=False, **fields)
    assert (found.effect, found.seeds) == (pytest.approx(0.2), 2)
    found = judged(tmp_path, recipes(), learned=False, **fields | {"unit": ["heads", "lr"]})
    assert found.effect == pytest.approx(0.2)
    with_rope = {"rows": {"task": "kv", "scheme": "rope"}, "unit": ["layers", "lr"], "below": 0.5}
    found = judged(tmp_path, recipes(), learned=False, **with_rope)
    assert (found.effect, found.seeds) == (pytest.approx(0.15 + 0.01), 4)


def test_units_agree_on_an_order_and_a_column_explains_a_share(tmp_path):
    fields = {"rows": {"task": "kv"}, "over": "scheme", "unit": ["layers", "lr"], "above": 0.8}
    found = judged(tmp_path, recipes(), learned=False, statistic="concordance", **fields)
    assert (found.effect, found.verdict) == (pytest.approx(1), "holds")
    found = judged(tmp_path, recipes(), learned=False, statistic="share", **fields)
    units, between = 0.1 * np.arange(4), 4 * 2 * 0.1**2
    whole = between + 2 * ((units - units.mean()) ** 2).sum()
    assert found.effect == pytest.approx(between / whole)
    assert found.low < found.effect < found.high


def test_runs_of_several_settings_in_a_unit_are_not_averaged(tmp_path):
    fields = {"rows": {"task": "kv", "scheme": "rope"}, "unit": ["layers"], "below": 0.5}
    found = judged(tmp_path, recipes(), learned=False, **fields)
    assert found.verdict == "not measured" and "several runs" in found.reason


def ordered(seeds: int, items: int, turned: int = 0) -> list[dict]:
    """Returns rows in which so many schemes have one order at 4x and at 8x, but for the first."""
    return [
        row(f"scheme-{i}", seed, multiple, (i if i >= turned or multiple == 4 else turned - i) / 20)
        for i in range(items)
        for seed in range(seeds)
        for multiple in (4, 8)
    ]


RANKS = {"statistic": "rank_correlation", "over": "scheme", "rows": {"task": "kv"}}
RANKS |= {"terms": [{"multiple": 4}, {"multiple": 8}]}


def test_a_rank_correlation_is_as_uncertain_as_its_schemes_are_few(tmp_path):
    """Seeds that agree to the last digit do not make five schemes many."""
    few = judged(tmp_path, ordered(3, 5), above=0.6, **RANKS)
    assert few.verdict == "undecided" and few.low < 0.3
    assert "equal orders of" not in few.design, "the statement lists no schemes"
    listed = RANKS | {"rows": {"task": "kv", "scheme": [f"scheme-{i}" for i in range(5)]}}
    assert "it cannot hold" in judged(tmp_path, ordered(3, 5), above=0.6, **listed).design
    many = judged(tmp_path, ordered(3, 16, turned=3), above=0.6, **RANKS)
    assert many.verdict == "holds" and 0.6 < many.low < many.effect < many.high < 1


def test_one_seed_of_many_schemes_has_an_interval_over_schemes(tmp_path):
    found = judged(tmp_path, ordered(1, 12), above=0.7, **RANKS)
    assert found.verdict == "holds" and found.seeds == 1 and 0.7 < found.low < 1


def test_labels_of_other_options_stay_whole():
    labels = ["t5_buckets16_steps2000", "rope_base5e5", "my_scheme2", "rope_lr5e-05_width1.2.3"]
    found = statistics.recipes(pd.DataFrame({"scheme": labels}))
    assert [*found["scheme"]] == ["t5_buckets16", "rope", "my_scheme2", "rope_width1.2.3"]
    assert found["steps"].dropna().tolist() == [2000]
    assert found["base"].dropna().tolist() == [5e5]
    assert found["lr"].dropna().tolist() == [5e-05]
    two = pd.DataFrame({"scheme": ["t5_lr0.001_steps2000", "t5_lr0.003_steps2000"]})
    assert statistics.recipes(two, ["steps"])["scheme"].nunique() == 2


def test_a_seed_with_fewer_items_has_no_order(tmp_path):
    fields = {"rows": {"task": "kv"}, "statistic": "rank_correlation", "over": "scheme"}
    fields |= {"terms": [{"multiple": 4}, {"multiple": 8}], "above": 0}
    rows = ordered(seeds=3, items=6)
    assert judged(tmp_path, rows, **fields).verdict == "holds"
    some = [one for one in rows if (one["seed"], one["scheme"]) != (2, "scheme-5")]
    found = judged(tmp_path, some, **fields)
    assert found.verdict == "undecided" and "seed 2" in found.reason


def test_equal_ranks_of_three_seeds_may_be_chance(tmp_path):
    rows = [row(f"scheme-{i}", seed, 4, i / 10) for i in range(4) for seed in range(3)]
    fields = {"rows": {"task": "kv"}, "statistic": "rank", "over": "scheme", "of": "scheme-3"}
    found = judged(tmp_path, rows, **fields, above=2.5)
    assert (found.effect, found.p) == (4, 0.25)


def test_ranked_numbers_and_listed_seeds_are_selected(tmp_path):
    rows = [
        row(f"rope_layers{n}", seed, 4, n / 10) | {"run": f"{n}-s{seed}"}
        for n in (2, 4, 6)
        for seed in range(3)
    ]
    fields = {"statistic": "rank", "over": "layers", "of": "6", "above": 2.5}
    found = judged(tmp_path, rows, rows={"task": "kv", "seed": [0, 1]}, **fields)
    assert (found.effect, found.seeds) == (3, 2)
