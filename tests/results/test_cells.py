"""Cells: one rule says which rows are a score, and every reader of scores follows it."""

import warnings

import numpy as np
import pandas as pd
import pytest

from extrap.figures.report.views import views
from extrap.results import ranking
from extrap.results.beside import beside, differences
from extrap.results.cells import PLACE, cells, counted
from extrap.results.comparison.cells import Cell, measured
from extrap.results.comparison.pairs import in_memory
from extrap.results.effective import crossing, effective_lengths
from extrap.results.findings.verdict import table as prepared
from extrap.results.leaderboard import leaderboard as schemes
from extrap.results.series import series, spread, whole
from extrap.results.stats.intervals import mean_over_seeds, t_interval
from extrap.results.summary import learning, reach, summary
from tests.support.plausible import around, identity, row, study_rows
from tests.support.plausible_recipes import grid_rows


def scores(task, metric="accuracy", **found):
    """Rows of one run at 64 and 128 tokens; found: {name: values of both lengths}."""
    kinds = {
        "whole": {},
        "start": {"depth": 0},
        "end": {"depth": 1},
        "first": {"axis": "index", "at": 1},
        "second": {"axis": "index", "at": 2},
        "symbols": {"axis": "symbols", "at": 30},
        "more": {"axis": "symbols", "at": 60},
        "layer": {"layer": 0},
    }
    return [
        identity("rope") | row(task, "one", length, metric, **around(value, 0.1), **kinds[kind])
        for kind, values in found.items()
        for length, value in zip((64, 128), values, strict=True)
    ]


WAYS = {
    "whole": ({"whole": (0.9, 0.5)}, (0.9, 0.5), 1),
    "depths": ({"start": (1.0, 0.2), "end": (0.6, 0.4)}, (0.8, 0.3), 2),
    "whole and depths": ({"whole": (0.9, 0.5), "start": (1.0, 0.0)}, (0.9, 0.5), 1),
    "index": ({"first": (0.5, 0.3), "second": (0.7, 0.1)}, (0.6, 0.2), 2),
    "one of an axis": ({"symbols": (0.9, 0.5)}, (0.9, 0.5), 1),
    "a layer beside it": ({"whole": (0.9, 0.5), "layer": (0.0, 0.0)}, (0.9, 0.5), 1),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_reader_takes_the_same_rows_for_the_score(frame, way):
    held, expected, parts = WAYS[way]
    (found,) = whole(frame(scores("mine", **held)))
    here = cells(found.rows).set_index("length")
    assert here["value"].tolist() == pytest.approx(expected)
    assert here["low"].tolist() == pytest.approx([value - 0.1 for value in expected])
    assert set(here["parts"]) == {parts}
    compared = measured(found)
    (view,) = (view for view in views([found]) if view.kind == "length")
    length = effective_lengths(found)["mine", "one"]
    ranked = ranking.by_multiple([found], ranking.Score("mine", "one", "accuracy"))
    for at, value in zip((64, 128), expected, strict=True):
        assert compared[Cell("mine", "one", at, "accuracy")][0] == pytest.approx(value)
        assert view.points.set_index("x")["value"][at] == pytest.approx(value)
        assert ranked[at / 64][0].item() == pytest.approx(value)
    curve = pd.Series(expected, (64, 128))
    assert length.tokens == pytest.approx(crossing(curve, 64)[0])


def test_several_points_of_another_axis_are_a_curve_and_no_score(frame):
    (found,) = whole(frame(scores("mine", symbols=(0.9, 0.5), more=(0.7, 0.1))))
    assert cells(found.rows).empty and not measured(found) and not effective_lengths(found)
    assert not views([found])


def test_a_cell_is_one_row_and_its_place_is_its_own(frame):
    rows = frame(study_rows(("rope", "alibi"), (0, 1)))
    found = cells(rows)
    assert not found.duplicated(PLACE).any() and set(found["multiple"]) > {1.0, 2.0, 4.0}


@pytest.fixture
def partly(frame):
    """Five seeds, one of which is below the gate of retrieval and finds nothing."""
    rows = frame(study_rows(("rope",), range(5)))
    lost = (rows["task"] == "kv") & (rows["seed"] == 1)
    ends = {name: rows[name].mask(lost, 0.0) for name in ("value", "low", "high")}
    return rows.assign(status=rows["status"].mask(lost, "not trained"), **ends)


def test_every_page_counts_the_seeds_that_pass(partly):
    found = whole(partly)
    passed = partly[(partly["status"] == "ok") & (partly["protocol"] == "records")]
    passed = passed[(passed["multiple"] == 4) & (passed["metric"] == "accuracy")]
    expected = passed["value"].mean()
    place = ("length", "kv", "records", "accuracy")
    (view,) = (v for v in views(found) if (v.kind, v.task, v.protocol, v.metric) == place)
    point = view.points.set_index("x").loc[256]
    assert summary(partly)["mean 4x"].item() == pytest.approx(expected)
    assert (point["value"], point["seeds"], point["below"]) == (pytest.approx(expected), 5, 1)
    _, line = schemes([(prepared(partly), 2)])
    assert line[4].startswith(f"{expected:.2f}".lstrip("0")) and line[-1] == "5, 1 below the gate"
    (trained, _) = series(partly)
    drawn = cells(trained.rows)
    drawn = drawn[(drawn["protocol"] == "records") & (drawn["metric"] == "accuracy")]
    middle = spread(drawn, "multiple").loc[4.0]
    assert middle["value"] == pytest.approx(expected)
    assert point[["low", "high"]].tolist() == pytest.approx(middle[["low", "high"]].tolist())


def test_recipes_that_teach_a_scheme_nothing_have_no_part_in_its_span(partly, frame):
    recipes = prepared(frame(grid_rows(("rope",))))
    failed = (recipes["layers"] == 2) & (recipes["lr"] == 0.001) & (recipes["task"] == "kv")
    lost = recipes.assign(
        value=recipes["value"].mask(failed, 0.0),
        status=recipes["status"].mask(failed, "not trained"),
    )
    head, line = schemes([(prepared(partly), 2)], lost)
    assert "over 4 recipes" in head[5] and line[5].endswith("(3)")
    _, whole_line = schemes([(prepared(partly), 2)], recipes)
    assert line[5] == f"{whole_line[5]} (3)"


@pytest.mark.parametrize("none", [False, True], ids=["some pass", "none passes"])
def test_comparisons_and_tables_of_schemes_take_the_seeds_of_the_summary(partly, frame, none):
    rope = partly.assign(study="judge")
    if none:
        rope = rope.assign(status="not trained")
    both = pd.concat([rope, frame(study_rows(("alibi",), range(5)))], ignore_index=True)
    expected = summary(both).loc["rope", "mean 4x"]
    assert learning(both).loc["rope", 4] == pytest.approx(expected)
    with warnings.catch_warnings(action="ignore"):  # without items
        pairs = in_memory(both, ["rope", "alibi"], {})
    judged = beside(both.assign(sheet=both["run"]), "judge", "rope", "cafe0123")
    apart = differences(judged, lambda stem: (stem, None))
    seeds = 5 if none else 4
    for table in (pairs[pairs["protocol"] == "records"], apart[apart["depth"].isna()]):
        cell = table[(table["task"] == "kv") & (table["length"] == 256)]
        if "metric" in cell:
            cell = cell[cell["metric"] == "accuracy"]
        assert cell["a"].item() == pytest.approx(expected) and cell["seeds"].item() == seeds


def test_all_seeds_count_where_none_passes(partly):
    rows = partly.assign(status="not trained")
    (found,) = whole(rows)
    every = cells(found.rows, ["accuracy"])
    assert len(counted(every)) == len(every)
    far = every[(every["protocol"] == "records") & (every["multiple"] == 4)]
    assert far["seed"].nunique() == 5 and far["value"].min() == 0
    assert summary(rows).loc["rope", "mean 4x"] == pytest.approx(far["value"].mean())
    assert learning(rows).loc["rope", "passed"] == 0
    assert learning(rows).loc["rope", 4] == pytest.approx(far["value"].mean())
    assert reach(rows).empty


def test_one_mean_over_seeds_with_its_interval():
    values = [0.9, 1.0, 0.95]
    low, high = t_interval(values)
    assert high > 1
    assert mean_over_seeds(values, (0, 1)) == pytest.approx((0.95, low, 1.0))
    for few in ([0.9, 1.0], [0.9]):
        mean, *ends = mean_over_seeds(few)
        assert mean == np.mean(few) and np.isnan(ends).all()
    assert np.isnan(mean_over_seeds([])).all()
