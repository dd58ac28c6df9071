"""Panels of a fixed size in inches.

A figure has its natural width, at which labels stand beside the lines. Within `fitted(width)` a
wider one is fitted to a page: panels shrink and wrap, and labels become a legend under them, so
that text keeps its size.
"""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from extrap.figures.drawing.dimensions import SHORTER, STACKED, WIDTH
from extrap.figures.drawing.ends import label_height, label_room
from extrap.utils.errors import UserError

NARROWEST, LOWEST = 0.85, 0.5
"""Inches of width below which a panel is not drawn, but put into another row; its least height."""
BROKEN, FLOWING = 0.98, 0.3
"""Inches between rows of panels where a row is broken; and where all panels have one x axis."""


def panels(
    grid: tuple[int, int],
    size: tuple[float, float],
    *,
    labels=(),
    each=False,
    right=0.0,
    gap=0.0,
    between=0.5,
    left=0.62,
    top=0.66,
    least=NARROWEST,
    low=LOWEST,
    flow=False,
):
    """Returns a Figure and its Axes (rows, columns), a grid of panels in inches.

    Args:
        grid: rows and columns of panels; a fitted figure may put a row into several.
        size: width and height of a panel.
        labels: names that `label_ends` writes beside the last column, or beside each one.
        right, left, top: margins; gap: between columns; between: rows.
        least, low: width and height below which a panel cannot be drawn.
        flow: panels have the same axes, so that a broken row goes on in the line of the next one.
    Raises:
        UserError: for a grid without panels, and where not one panel fits into the width.
    """
    (rows, columns), (width, height), bottom = grid, size, 0.72
    _check(grid)
    if labels:
        room = label_room(labels)
        height = label_height(len(labels), height)
        right = right + room
        gap = gap + room * each
    across = columns
    page = WIDTH.get()
    if page and left + columns * width + (columns - 1) * gap + right > page:
        room = page - left - right
        across, width = _fitting(columns, width, room, gap, least, page)
        flow = flow and rows > 1 and across < columns
        if flow:
            across, width = _flowing(rows * columns, size[0], room, gap, least)
            between = max(between, FLOWING)
        elif across < columns:
            between = max(between, BROKEN)
        if least == NARROWEST:
            height = min(height, 1.2 * width)
    else:
        flow = False
    height = max(min(low, height), SHORTER.get() * height)
    lines = -(-rows * columns // across) if flow else rows * -(-columns // across)
    wide = left + across * width + (across - 1) * gap + right
    high = bottom + lines * height + (lines - 1) * between + top
    figure = Figure(figsize=(wide, high))
    STACKED[figure] = lines * height if height > low else 0.0
    axes = np.empty(grid, object)
    for (i, j), (down, along) in _places(grid, across, flow):
        x = left + along * (width + gap)
        y = high - top - height - down * (height + between)
        axes[i, j] = figure.add_axes((x / wide, y / high, width / wide, height / high))
    return figure, axes


def _check(grid: tuple[int, int]) -> None:
    if 0 in grid:
        problem = "none has a protocol, a metric or a series that this figure draws"
        raise UserError("rows", problem=problem, remedy="look at these columns of the rows")


def _places(grid: tuple[int, int], across: int, flow: bool) -> Iterator[tuple[tuple, tuple]]:
    """Yields the row and column of each panel, and the line and place where it stands, with so many
    panels in a line.
    """
    columns = grid[1]
    deep = -(-columns // across)  # lines that one row takes
    for i, j in np.ndindex(grid):
        down, along = divmod(j, across)
        yield (i, j), divmod(i * columns + j, across) if flow else (i * deep + down, along)


def _fitting(columns: int, width: float, room: float, gap: float, least: float, page: float):
    """Returns (panels in a row, their width): as many as fit, with the fewest gaps."""
    fitting = [n for n in range(1, columns + 1) if (room - (n - 1) * gap) / n >= least]
    if not fitting:
        problem = f"this figure needs at least {page - room + least:.1f}in"
        raise UserError("--width", problem=problem, remedy="give a wider page")
    rows = -(-columns // max(fitting))
    across = -(-columns // rows)
    return across, min(width, (room - (across - 1) * gap) / across)


def _flowing(count: int, width: float, room: float, gap: float, least: float):
    """Returns (panels in a row, their width) of panels that all have the same axes: the last row is
    as full as it can be.
    """
    most = int((room + gap) / (least + gap))
    across = min(range(2, max(2, most) + 1), key=lambda n: (-count % n, -n))
    return across, min(width, (room - (across - 1) * gap) / across)


def leftmost(panel) -> bool:
    """True if no panel of its figure stands further left."""
    return panel.get_position().x0 <= min(one.get_position().x0 for one in panel.figure.axes) + 1e-9


def lowest(panel) -> bool:
    """True if no panel of its figure stands below it."""
    own = panel.get_position()
    boxes = [one.get_position() for one in panel.figure.axes]
    column = [box for box in boxes if abs(box.x0 - own.x0) < 1e-9]
    return not any(box.y0 < own.y0 - 1e-9 for box in column)


def wrapped(count: int, across: int, size: tuple[float, float], **margins):
    """Returns a Figure and `count` Axes, at most `across` in a row; `margins` as in `panels`."""
    across = min(across, count)
    figure, axes = panels((-(-count // across), across), size, **margins)
    for spare in axes.flat[count:]:
        spare.remove()
    return figure, list(axes.flat[:count])
