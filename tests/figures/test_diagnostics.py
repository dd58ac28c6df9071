"""Figures of the task diagnostics: they draw what the rows say and nothing that is not there."""

import numpy as np
import pandas as pd
import pytest

from extrap.figures import bias_curves, entropy_keys, served, slot_attention
from extrap.figures.drawing.palette import BELOW_GATE
from extrap.results.series import select
from extrap.studies.reference.figures import influence
from tests.support.invented import SLOTS, inside_rows
from tests.support.plausible import L


@pytest.fixture(scope="module")
def inside(frame):
    return frame(inside_rows())


def lines(panel):
    return {line.get_label(): line.get_xydata().tolist() for line in panel.lines}


def titled(figure, words):
    return next(panel for panel in figure.axes if panel.get_title() == words)


def value(rows, scheme, **columns):
    found = select(
        rows,
        task="diagnostics",
        scheme=scheme,
        **{k: v for k, v in columns.items() if isinstance(v, str)},
    )
    for name, wanted in columns.items():
        found = found[found[name] == wanted]
    return found


def test_a_longer_text_under_an_extension_hides_no_plain_series(inside):
    rows = select(inside, **entropy_keys.NEEDS)
    further = rows.assign(extension="yarn", factor=16.0, length=4 * rows["length"])
    figure = entropy_keys.draw(pd.concat([rows, further]))
    labels = {label for panel in figure.axes for label in lines(panel)}
    assert {"rope (retrieval only)", "rope + yarn x16 (retrieval only)"} <= labels


def test_biases_of_another_layer_than_the_first_are_not_drawn(inside):
    assert served(bias_curves, inside)
    assert not served(bias_curves, inside[inside["layer"] != 0])


def test_slots_are_over_uniform_and_calibrated(inside):
    figure = slot_attention.draw(inside)
    raw, calibrated = figure.axes[0], figure.axes[2]
    rows = value(
        inside, "rope", metric="slot_mass", protocol="trained_records", data="retrieval", length=L
    )
    rows = rows[rows["layer"].isna()].sort_values("at")
    drawn = np.array(lines(raw)["rope (retrieval only)"])
    np.testing.assert_allclose(drawn[:, 1], rows["value"] * L / 2)
    assert (drawn[0, 0], drawn[-1, 0], len(drawn)) == (0, 1, SLOTS)
    rows = value(
        inside, "rope", metric="calibrated", protocol="trained_records", data="retrieval", length=L
    ).sort_values("at")
    np.testing.assert_allclose(
        np.array(lines(calibrated)["rope (retrieval only)"])[:, 1], rows["value"]
    )
    unlearned = [line for line in calibrated.lines if line.get_label().startswith("nope")]
    assert {line.get_color() for line in unlearned} == {BELOW_GATE}


def test_influence_shows_depths_mask_and_training(inside):
    figure = influence.draw(inside)
    panel = titled(figure, "rope")
    found = lines(panel)
    assert {f"untrained_{k}_layers" for k in (1, 2, 4, 8)} | {
        "unmasked",
        "rope (retrieval only)",
        "rope (retrieval-ends)",
    } <= set(found)
    rows = value(
        inside, "rope", metric="influence", protocol="untrained_8_layers", data="retrieval"
    ).sort_values("at")
    points = np.array(found["untrained_8_layers"])
    ends = rows[rows["at"].isin((0, L - 1))]
    np.testing.assert_allclose(points[[0, -1], 1], ends["value"] * L)
    inside = rows[~rows["at"].isin((0, L - 1))]
    keys, values = (inside[inside["at"] % 2 == odd]["value"].to_numpy() for odd in (1, 0))
    np.testing.assert_allclose(points[1:-1, 1], (keys + values) / 2 * L)
    np.testing.assert_allclose(points[1, 0], 1.5 / (L - 1))
    assert "unmasked" not in lines(titled(figure, "alibi"))


def test_influence_of_keys_in_one_half_and_of_values_in_the_other_is_not_drawn(inside):
    """What looks like a step would be the place where even positions become odd ones."""
    assert served(influence, inside)
    alternating = inside[(inside["metric"] != "influence") | (inside["at"] % 2 == 0)]
    assert not served(influence, alternating)
