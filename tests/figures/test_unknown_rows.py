"""Figures of rows that nobody can place."""

import pytest

from extrap.figures.drawing.layout import panels
from extrap.utils.errors import UserError


@pytest.mark.parametrize("grid", [(0, 2), (1, 0)])
def test_a_figure_without_panels_is_one_line(grid):
    with pytest.raises(UserError, match="none has a protocol, a metric or a series"):
        panels(grid, (2, 2))
