"""Lines of single seeds: many are one path with gaps, and each has the style of its reading."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from extrap.figures import kv_seeds
from extrap.figures.drawing.ends import MANY, thin_lines
from extrap.figures.drawing.style import Style
from tests.support.plausible import run_rows


def test_many_seeds_are_one_path_through_the_same_points():
    values = np.random.default_rng(0).random((4, MANY + 1))
    values[3, 0] = np.nan
    table = pd.DataFrame(values, index=[64, 128, 256, 512])
    axes = Figure().add_subplot()
    thin_lines(axes, table.iloc[:, :MANY], Style("red", "-", "o"))
    assert len(axes.lines) == MANY
    thin_lines(axes, table, Style("red", "-", "o"))
    assert len(axes.lines) == MANY + 1
    drawn = np.array(axes.lines[-1].get_xydata()).reshape(MANY + 1, 5, 2)
    assert np.array_equal(drawn[:, :4, 1], values.T, equal_nan=True)
    assert (drawn[:, :4, 0] == table.index.to_numpy()).all() and np.isnan(drawn[:, 4]).all()


def test_a_run_has_the_line_of_the_reading_of_its_panel(frame):
    """An extension reads the runs that the plain reading reads."""
    own = [row for seed in (0, 1) for row in run_rows("rope", seed)]
    further = [row | {"extension": "yarn", "factor": 8.0} for row in own if row["task"] == "kv"]
    figure = kv_seeds.draw(frame(own + further))
    lines = {}
    for panel in figure.axes[:2]:
        paths = [line for line in panel.lines if line.get_label().startswith("_seed")]
        lines[panel.get_title()] = {line.get_linestyle() for line in paths}
    assert lines == {"rope (2)": {"-"}, "rope + yarn x8 (2)": {"--"}}
