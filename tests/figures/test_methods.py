"""Extensions in rows and figures: how they are told apart, and limits of density."""

import math

import pandas as pd
import pytest

from extrap import figures
from extrap.figures.drawing.naming import Naming
from extrap.results.methods import compared, methods, target
from extrap.results.series import select
from extrap.studies.extension import families
from extrap.studies.extension import limit as density
from extrap.studies.extension.figures import best_factor, streaming
from extrap.studies.extension.methods import order
from tests.support.plausible import run_rows
from tests.support.plausible_extension import METHODS, L, extension_rows, reading

ALL = figures.available()


@pytest.fixture(scope="module")
def study(frame):
    return frame(extension_rows(seeds=(0, 1, 2)))


def lines(panel):
    return {line.get_label(): line.get_xydata().tolist() for line in panel.lines}


def test_rows_are_told_apart(study):
    rows = methods(study)
    tuned = rows[rows["tuned"].notna()]
    assert set(tuned["tuned"]) == {2.0, 8.0}
    assert set(tuned["tuned_with"]) == {"pi"} and set(rows["parent"]) == {"rope"}
    assert set(rows.loc[rows["log_n"], "method"]) == {"ntk-su-mixed"}
    assert "width=16" in set(rows.loc[rows["method"] == "rerope", "options"])
    assert target(rows) == 8
    beside = compared(rows)
    assert set(beside["method"]) == {name.removesuffix("-log-n") for name in METHODS}
    assert set(beside["set_for"]) == {1.0, 8.0} and set(beside["options"]) == {""}


def test_models_of_several_settings_are_told_apart(frame, study):
    """A mean over a narrow and a wide model is of neither."""
    wide = study.assign(run=study["run"].str.replace("cafe0123", "beef0123"))
    both = methods(frame_of(study, wide))
    assert {*both.loc[both["tuned"].isna(), "parent"]} == {"rope [beef0123]", "rope [cafe0123]"}
    found = density.costs(frame_of(study, wide.assign(value=wide["value"] * 2)))
    assert found.equals(density.costs(wide.assign(value=wide["value"] * 2)))


def frame_of(*parts):
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("name", ["rerope,width=8", "ntk-log-n", "pi-pair,pair=0"])
def test_no_figure_of_methods_where_what_was_read_is_not_shown_in_it(frame, name):
    rows = frame(reading("direct", 0.1, 0, 0) + reading(name, 0.1, 0, 0))
    assert not figures.available()["loss_methods"].enough(rows)


def test_a_study_whose_runs_have_no_curve_is_drawn(frame):
    rows = frame([r for s in ("rope", "alibi") for r in run_rows(s) if r["task"] != "train"])
    steps, *shares = figures.drawn(figures.available()["who_learns"], rows).axes
    assert not len(steps.get_xticks()) and len(shares) == 4


def test_a_published_model_stands_beside_its_tuned_runs(frame):
    """It keeps `published` as its data, while a tuned run has the name of what it was tuned on."""
    plain = [row | {"data": "published"} for row in run_rows("rope")]
    name = {"scheme": "rope-full-pi-x2", "data": "text", "extension": "pi", "factor": 2.0}
    tuned = [row | name for row in run_rows("rope", settings="beef4567")]
    other = [row | {"data": "text"} for row in run_rows("alibi", settings="feed4567")]
    rows = methods(frame(plain + tuned + other))
    assert set(rows["scheme"]) == {"rope", "rope-full-pi-x2"} and set(rows["parent"]) == {"rope"}


def test_a_factor_that_follows_the_text_is_no_family(frame):
    rows = [
        row | {"factor": max(1.0, row.get("length", L) / L), "config": "a"}
        for row in reading("pi-adaptive", 0.1, 0, 0)
    ]
    assert set(methods(frame(rows))["set_for"]) == {1.0}


def test_who_was_trained_is_what_the_plain_reading_says(frame):
    lost = [row | {"status": "not trained"} for row in reading("pi", 0.1, 0.5, 0)]
    found = methods(frame(lost + reading("direct", 0.1, 0, 0)))
    assert set(found["status"]) == {"ok"}
    never = [row | {"status": "not trained"} for row in reading("direct", 0.1, 0, 0)]
    assert set(methods(frame(lost + never))["status"]) == {"not trained"}


def test_controls_and_other_schemes_stay_out(frame):
    rows = methods(frame(extension_rows() + run_rows("t5") + run_rows("alibi", data="text")))
    assert set(rows["parent"]) == {"rope"} and set(rows["data"]) == {"mixture"}


def test_the_plain_reader_comes_first_and_others_by_name():
    assert order({"rerope", "invented", "pi", "direct"}) == ["direct", "invented", "pi", "rerope"]


def test_families_are_those_of_the_classes():
    found = {name: families.family(name) for name in ("yarn", "pi", "self-extend", "crop", "mine")}
    assert found == {
        "yarn": families.ANGLES,
        "pi": families.ANGLES,
        "self-extend": families.DISTANCES,
        "crop": families.WINDOWS,
        "mine": families.WINDOWS,
    }


def test_streaming_needs_sinks_beside_dense_attention(study):
    assert {"dense", "window", "sinks + window", "read anew"} <= set(
        lines(streaming.draw(study).axes[0])
    )
    assert figures.render(streaming, study[study["extension"] != "streaming-llm"]) is None


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("streaming", {"streaming-llm": "Sinks"}),
        ("yarn_temperature", {"yarn": "Y"}),
        ("rerope_window", {"rerope,width=16": "Near"}),
        ("tuning_factors", {"rope": "Ours", "pi": "P"}),
        ("density", {"pi-pair,pair=null": "All"}),
    ],
)
def test_a_label_takes_no_line_from_a_figure(study, name, labels):
    def points(naming):
        with naming.in_force():
            rows = naming.of(study)
            assert figures.served(ALL[name], rows)
            panels = ALL[name].draw(rows).axes
        drawn = [line.get_xydata().tolist() for panel in panels for line in panel.lines]
        return drawn, [text.get_text() for panel in panels for text in panel.texts]

    (lines_before, texts), (lines_after, labelled) = map(points, (Naming(), Naming(labels)))
    assert lines_after == lines_before and len(labelled) == len(texts)


def test_the_best_factor_is_the_one_with_the_least_loss(study):
    rows = methods(study)
    found = best_factor.best(best_factor.untuned(select(rows, **best_factor.NEEDS)), ["pi"])
    assert found["pi", 1.0] == 1.0, "the plain reader, which costs nothing there"
    for multiple in (2.0, 8.0):
        asked = (
            (rows["multiple"] == multiple)
            & (rows["options"] == "")
            & rows["tuned"].isna()
            & (rows["seed"] == 0)
        )
        part = rows[
            asked & (rows["protocol"] == "last_segment") & rows["method"].isin(("pi", "direct"))
        ]
        assert found["pi", multiple] == part.loc[part["value"].idxmin(), "set_for"]


def test_the_density_limit_is_read_off_the_costs(study):
    found = density.costs(study).set_index(["metric", "pair", "k"])["cost"]
    assert found["nll", -1, 4.0] == pytest.approx(0.3 * math.log2(4)) and found["nll", 0, 1.0] == 0
    parts = density.costs(study).groupby(["pair", "metric"])
    assert {key: density.greatest(part, key[1]) for key, part in parts} == {
        (pair, metric): limit
        for pair, limit in ((-1, "k = 1"), (0, "k = 1"), (3, "k = 4 and more"))
        for metric in density.ASKED
    }
