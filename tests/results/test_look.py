"""Looks and labels: one look per scheme for ever, and names that do not cover each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from extrap.figures.drawing.layout import End, label_ends, spaced
from extrap.figures.drawing.style import CONTROL_LINES, FREE, SCHEMES, look, scheme_look
from extrap.results.series import select, series


def test_known_schemes_look_different_and_unknown_ones_differ_from_them():
    assert len(set(SCHEMES.values())) == len(SCHEMES)
    assert not set(FREE) & set(SCHEMES.values())
    new = scheme_look("invented-here")
    assert new == scheme_look("invented-here") != scheme_look("invented-there")
    assert (new.colour, new.line, new.marker) in FREE


def test_a_control_has_the_colour_of_its_scheme_and_another_line(demo):
    found = {s.label: look(s) for s in series(select(demo, task="nll", seen="text"))}
    plain, control = found["rope"], found["rope (text only)"]
    assert (plain.colour, plain.marker) == (control.colour, control.marker)
    assert control.line == CONTROL_LINES["text"] != plain.line


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.01, 0.08))
def test_labels_are_spaced_in_order_and_within_the_panel(wanted, gap):
    wanted = sorted(wanted)
    places = spaced(wanted, gap)
    assert (np.diff(places) >= gap - 1e-12).all()
    assert places[0] >= -1e-12
    assert places[-1] <= 1 + 1e-12


def test_labels_that_have_room_stay_where_lines_end():
    np.testing.assert_allclose(spaced([0.1, 0.5, 0.52, 0.9], 0.1), [0.1, 0.46, 0.56, 0.9])


def test_more_labels_than_room_keep_their_distance():
    np.testing.assert_allclose(np.diff(spaced([0.5] * 30, 0.1)), 0.1)


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_labels_stand_at_the_height_where_lines_end(scale):
    axes = Figure(figsize=(4, 4)).add_axes((0, 0, 0.5, 1))
    axes.set(xlim=(1, 10), ylim=(1, 100), yscale=scale)
    ends = [End("a", scheme_look("rope"), 10, 10), End("b", scheme_look("t5"), 5, 50), End("c", scheme_look("t5"), 8, np.nan)]
    label_ends(axes, ends)
    heights = {text.get_text(): text.xy[1] for text in axes.texts}
    assert heights["a"] == pytest.approx(0.5 if scale == "log" else 9 / 99)
    assert heights["c (to 8)"] < heights["a"] < heights["b (to 5)"]
    assert not axes.lines
