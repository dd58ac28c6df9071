"""Thin lines of many seeds are one path with gaps."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from extrap.figures.drawing.ends import MANY, thin_lines
from extrap.figures.drawing.style import Style


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
