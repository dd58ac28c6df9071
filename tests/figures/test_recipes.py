"""Figures of runs whose labels name their options: lines and dots are the rows, whole or not."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from extrap.figures import served
from extrap.figures.drawing import leftmost
from extrap.figures.drawing.dimensions import fitted
from extrap.results.findings.markdown_pages import judged
from extrap.results.rows import read
from extrap.results.series import select
from extrap.studies.bands.figures import frequency_band
from extrap.studies.base.figures import base_length
from extrap.studies.disputes.figures import more_training, tuned_at_length
from extrap.studies.grid.figures import recipe_grid
from extrap.studies.predictors.figures import score_reach
from extrap.studies.recipe import RECIPES, readings
from extrap.studies.recipe.figures import own_recipe, recipe_effects
from tests.support.jobs import composed
from tests.support.plausible import L, run_rows
from tests.support.plausible_recipes import band_rows, dispute_rows, grid_rows, recipe_rows

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def disputes(frame):
    return frame(dispute_rows())


WIDTHS = np.array([4.0, 8.0, 16.0])


def lines(panel) -> dict:
    return {line.get_label(): line.get_xydata() for line in panel.lines}


def test_labels_without_options_are_no_study_of_them(frame):
    plain = frame(run_rows("rope") + run_rows("alibi"))
    figures = (more_training, tuned_at_length, recipe_grid)
    assert not any(served(figure, plain) for figure in figures)


def test_steps_to_90_have_no_mean_where_a_seed_does_not_come_there(disputes):
    _, shares, _ = more_training.draw(disputes).axes
    np.testing.assert_allclose(lines(shares)["rnope-swa"], [[0.125, 790], [0.5, 790]])
    never = (disputes["metric"] == "steps_to_90") & (disputes["seed"] == 1)
    never &= disputes["scheme"] == "rnope-swa_share0.5"
    _, shares, _ = more_training.draw(disputes[~never]).axes
    np.testing.assert_allclose(lines(shares)["rnope-swa"], [[0.125, 790]])


def test_a_model_below_the_gate_is_hollow_and_no_mean_of_steps_praises_it(disputes):
    wide = (disputes["scheme"] == "rnope-swa_share0.5") & (disputes["seed"] == 1)
    failed = wide & (disputes["task"] == "kv")
    lost = disputes.assign(status=disputes["status"].mask(failed, "not trained"))
    far = failed & (disputes["metric"] == "accuracy") & (disputes["depth"] < 0.5)
    lost = lost.assign(value=lost["value"].mask(far & (disputes["length"] == L), 0.0))
    _, steps, beyond = more_training.draw(lost).axes
    np.testing.assert_allclose(lines(steps)["rnope-swa"], [[0.125, 790]])
    for panel in (steps, beyond):
        dots = [one for one in panel.lines if one.get_marker() == "o"]
        hollow = [one for one in dots if one.get_markerfacecolor() == "white"]
        assert [one.get_xdata().tolist() for one in hollow] == [[0.5]]
    assert hollow[0].get_ydata() == 0
    assert lines(beyond)["rnope-swa"][1, 1] < 0.7


def test_a_study_that_still_runs_has_the_panels_of_its_rows(disputes):
    for option in ("steps", "share"):
        some = disputes[disputes["scheme"].str.contains(option)]
        found = more_training.draw(some).axes
        assert served(more_training, some) and len(found) == {"steps": 1, "share": 2}[option]
    before = disputes[~disputes["scheme"].str.contains("-x1")]
    assert not served(tuned_at_length, before)
    full = disputes[~disputes["scheme"].str.contains("lora")]
    assert {"before", "all weights"} <= set(lines(tuned_at_length.draw(full).axes[0]))


def test_shares_of_the_variance_are_sums_of_squares(frame):
    found = recipe_grid.readings(select(frame(grid_rows()), **recipe_grid.NEEDS))
    assert len(found) == 8
    loses = (found["layers"] == 4) & (found["scheme"] == "alibi")
    found = found.assign(value=np.where(found["scheme"] == "alibi", 3.0, 1.0) - 2.0 * loses)
    shares = recipe_grid.explained(found)  # 1, 1 and 3, 1: a third each
    thirds = ("scheme", "layers", "scheme and layers")
    assert shares == pytest.approx(dict.fromkeys(shares, 0) | dict.fromkeys(thirds, 1 / 3))
    assert recipe_grid.explained(found.iloc[:-1]) == {}, "a recipe is missing"


def test_a_training_length_with_some_recipes_counts_for_no_share(frame):
    rows = frame(grid_rows(lengths=(32, 64)))
    some = (rows["train_length"] == 64) | rows["scheme"].str.contains("layers2")
    names = [len(recipe_grid.explained(recipe_grid.readings(
        select(part, **recipe_grid.NEEDS)))) for part in (rows, rows[some])]  # fmt: skip
    assert names == [7, 5]
    assert len(recipe_grid.draw(rows[some]).axes) == 2


def test_the_slope_of_the_band_over_the_width(frame):
    rows = frame(band_rows())
    assert frequency_band.slopes(frequency_band.recipes(rows), WIDTHS) == pytest.approx(
        [-1.1, -1, -0.9]
    )
    figure = frequency_band.draw(rows)
    note = " ".join(figure.texts[-1].get_text().split())
    assert "rope: -1.00 [-1.25, -0.75]" in note
    line = lines(figure.axes[0])["rope"]
    np.testing.assert_allclose(line[:, 1], [2**0.5 / width for width in (4, 8, 16)])
    assert not served(frequency_band, frame(band_rows(widths=(4, 8))))


def test_a_seed_without_a_width_has_no_slope(frame):
    rows = frame(band_rows())
    some = rows[(rows["seed"] > 0) | (rows["scheme"] != "rope_width4")]
    assert len(frequency_band.slopes(frequency_band.recipes(some), WIDTHS)) == 2


def test_the_rank_correlations_over_a_score_are_those_of_the_findings():
    rows = pd.concat([read(RESULTS / study) for study in ("predictors", "zoo")])
    titles = [panel.get_title(loc="left") for panel in score_reach.draw(rows).axes]
    drawn = [float(title.removeprefix("rank correlation ")) for title in titles]
    found = [
        each.effect for each in judged(RESULTS, "predictors") if "predicts" in each.statement.id
    ]
    assert sorted(drawn) == pytest.approx(sorted(found), abs=0.005)


def test_a_line_over_bases_is_the_mean_over_depths_and_seeds(frame):
    names = {"rope_base100.0": 0.2, "rope_base1000.0": 0.4, "rope_base10000.0": 0.6}
    both = run_rows("rope") + run_rows("rope", seed=1)
    parts = [frame(both).assign(scheme=name) for name in names]
    for part, (name, value) in zip(parts, names.items(), strict=True):
        part["run"] = name + "-" + part["run"]
        part.loc[part["metric"] == "accuracy", "value"] = value + 0.1 * part["seed"]
    rows = pd.concat(parts, ignore_index=True)
    assert served(base_length, rows) and not served(base_length, parts[0])
    panel = base_length.draw(rows).axes[1]
    np.testing.assert_allclose(
        lines(panel)[f"L = {L}"], [[100, 0.25], [1000, 0.45], [10_000, 0.65]]
    )


def test_the_bound_of_the_base_is_that_of_its_paper():
    """arXiv 2405.14591, table 2: 4.3e3 for 1k tokens and heads of 128 channels."""
    assert base_length.base_bound(1024, 128) == pytest.approx(4.3e3, rel=0.01)


@pytest.fixture(scope="module")
def numbered(frame):
    """Two schemes under nine recipes: at 4 L a recipe finds a tenth of its number, and the loss at
    L is lowest under recipe 5.
    """
    rows = frame(recipe_rows())
    number = rows["scheme"].str.extract(r"_recipe(\d)", expand=False).astype(float)
    far = rows["metric"].eq("accuracy") & rows["length"].eq(4 * L)
    near = rows["metric"].eq("nll") & rows["length"].eq(L)
    value = rows["value"].mask(far, number / 10).mask(near, (number - 5).abs())
    return rows.assign(value=value)


def test_the_diamond_of_a_scheme_is_the_recipe_of_the_lowest_loss_within_reach(numbered):
    assert served(own_recipe, numbered)
    panel = own_recipe.draw(numbered).axes[0]
    dots = {mark: [one.get_xdata()[0] for one in panel.lines if one.get_marker() == mark]
            for mark in "Ds"}  # fmt: skip
    assert dots == {"D": pytest.approx([0.5, 0.5]), "s": pytest.approx([0.1, 0.1])}
    one = numbered[numbered["scheme"].str.endswith("_recipe1")]
    assert not served(own_recipe, one)


@pytest.mark.parametrize("figure, width", [(own_recipe, 2.4), (recipe_effects, 3.3)])
def test_on_a_narrow_page_every_row_of_panels_says_what_stands_beside_it(numbered, figure, width):
    with fitted(width):
        drawn = figure.draw(numbered)
    first = [panel for panel in drawn.axes if leftmost(panel)]
    assert len(first) > 1
    for panel in first:
        words = [label.get_text() for label in panel.get_yticklabels()]
        named = words == ["alibi", "rope"] or panel.get_ylabel()
        assert named and panel.yaxis.get_tick_params()["labelleft"]


def test_an_effect_is_the_mean_of_the_recipes_at_a_level(numbered):
    rope = recipe_effects.levels(readings.found(numbered), "weight_decay")["rope"]
    assert rope.to_dict() == pytest.approx({0.1: 0.2, 0.0: 0.5, 0.3: 0.8})
    rope = recipe_effects.levels(readings.found(numbered), "optimizer")["rope"]
    assert rope["muon"] == pytest.approx((0.3 + 0.4 + 0.8) / 3)
    some = numbered[~numbered["scheme"].str.endswith("_recipe9")]
    assert served(recipe_effects, numbered) and not served(recipe_effects, some)


@pytest.mark.parametrize("number", RECIPES)
def test_the_options_of_a_recipe_are_those_of_its_file(number):
    config, _ = composed(f"experiment=recipe/{number}")
    model, train = config["model"], config["train"]
    where = (model["dropout_at"] or "outputs") if model["dropout"] else "none"
    found = (train["weight_decay"], where, train["optimizer"], train["lr"])
    assert found == RECIPES[number]
