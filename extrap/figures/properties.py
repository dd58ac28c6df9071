"""Schemes against properties: a cell says what was measured, its colour whether the
property holds.
"""

from typing import Any

import pandas as pd
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from extrap.figures.drawing import entitle
from extrap.figures.drawing.palette import COLOURS

ROW, FIRST, CELL, HEAD = 0.155, 1.5, 0.66, 1.0
HOLDS = to_rgba(COLOURS["azure"], 0.35)
FAILS = to_rgba(COLOURS["amber"], 0.45)
NOTE_LINE, NOTE_COLUMNS = 0.115, 2


def paint(cells: pd.DataFrame, verdicts: pd.DataFrame, notes: list[str]) -> Figure:
    """Returns a figure of cells (text) and verdicts (True, False or None), both schemes x
    properties, over notes, a line on each property.
    """
    lines = -(-len(notes) // NOTE_COLUMNS)
    bottom = NOTE_LINE * (lines + 2) + 0.3
    across = FIRST + CELL * cells.shape[1] + 0.2
    down = bottom + ROW * len(cells) + HEAD
    figure = Figure(figsize=(across, down))
    size = CELL * cells.shape[1] / across, ROW * len(cells) / down
    axes = figure.add_axes((FIRST / across, bottom / down, *size))
    rows, columns = cells.shape
    axes.set(xlim=(0, columns), ylim=(rows, 0), xticks=[], yticks=[])
    axes.grid(False)
    axes.spines[:].set_visible(False)
    middle: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.2}
    for i, scheme in enumerate(cells.index):
        axes.text(-0.1, i + 0.5, scheme, ha="right", va="center", fontsize=6.8)
        for j, head in enumerate(cells.columns):
            held = verdicts[head].loc[scheme]
            if held is not None:
                corners = [j, j + 1, j + 1, j], [i, i, i + 1, i + 1]
                axes.fill(*corners, color=HOLDS if held else FAILS, linewidth=0)
            axes.text(j + 0.5, i + 0.53, cells[head].loc[scheme], **middle)
    turned: dict[str, Any] = {"ha": "left", "va": "bottom", "rotation": 40, "fontsize": 7}
    turned |= {"clip_on": False}
    for j, head in enumerate(cells.columns):
        axes.text(j + 0.35, -0.4, head, **turned)
    for i in range(0, len(cells) + 1, 5):
        axes.axhline(i, color="#cccccc", linewidth=0.4)
    for n, (head, meaning) in enumerate(zip(cells, notes, strict=True)):
        column, line = divmod(n, lines)
        x = (0.12 + column * (across - 0.2) / NOTE_COLUMNS) / across
        y = (bottom - 0.1 - NOTE_LINE * (1 + line)) / down
        figure.text(x, y, f"{head}: {meaning}", fontsize=6, color="#444444", va="bottom")
    title = "Properties of positional schemes, measured"
    below = "blue: holds; orange: does not; - : nothing to measure, or undefined"
    entitle(figure, title, below)
    return figure
