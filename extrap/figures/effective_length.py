"""Effective length by task and series: up to which multiple of the training length does a score
stay at 85 %?

A cell is the longest length, over L, up to which the score keeps 85 % of what it is at L (linear in
log2 of the length between measured ones; NoLiMa, arXiv 2502.05167), with its 95 % interval; >=
where no measured length fails. Columns are tasks and protocols, lines are series; a cell is blank
where the task was not asked or the run lies below its gate. Intervals are over seeds from three on;
one seed has that of its scores.
"""

import numpy as np
from matplotlib import colormaps

from extrap.figures.drawing.axes import note
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.page import POINT, text_width
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import series
from extrap.results.summary import reach

NEEDS = {"task": "kv", "metric": "accuracy", "extension": "direct", "seen": "retrieval"}
OF = " at several lengths"
CELL = 0.62
LINE = 0.3
MOST = 16
"""Multiple of L at which the colours end."""


def enough(rows) -> bool:
    return reach(rows).size > 0


def draw(rows):
    rows = rows[rows["extension"] == "direct"]
    table = reach(rows)
    found = {s.label: s for s in series(rows.assign(status="ok")) if s.label in table.index}
    left = 0.25 + POINT * text_width(table.index, 7.5)
    across = CELL * table.shape[1]
    head = 0.75 * POINT * text_width(table.columns, 7) + 0.5
    figure, ((panel,),) = panels(
        (1, 1),
        (across, LINE * len(table)),
        right=max(0.15, head - CELL / 2),
        gap=0,
        left=left,
        top=head,
        least=0.52 * table.shape[1],
    )
    panel.set(xlim=(0, table.shape[1]), ylim=(len(table), 0), xticks=[], yticks=[])
    panel.grid(visible=False)
    panel.spines[:].set_visible(False)
    for i, label in enumerate(table.index):
        ink = style_of(found[label]).text
        panel.text(-0.1, i + 0.5, label, ha="right", va="center", fontsize=7.5, color=ink)
        for j, place in enumerate(table.columns):
            _cell(panel, j, i, table.loc[label, place], found[label].rows["train_length"].iloc[0])
    for j, place in enumerate(table.columns):
        panel.text(j + 0.4, -0.1, place, ha="left", va="bottom", rotation=45, fontsize=7)
    words = "length over L up to which 85 % of the score at L is kept, ≥: at least; below it its "
    words += "95 % interval, from 3 seeds on"
    entitle(figure, "Effective length by task", f"{note(rows)} · {words}")
    return figure


def _cell(panel, j: int, i: int, length, train_length) -> None:
    if np.isnan(length.tokens):
        return
    share = np.log2(max(1.0, length.tokens / train_length)) / np.log2(MOST)
    colour = colormaps["viridis"](min(1.0, share))
    panel.fill_between([j + 0.03, j + 0.97], i + 0.05, i + 0.95, color=colour, linewidth=0)
    ink = "white" if share < 0.6 else "black"
    words = f"{'≥' * length.least}{length.tokens / train_length:.2g}x"
    known = not np.isnan(length.low)
    panel.text(j + 0.5, i + (0.36 if known else 0.5), words, ha="center", va="center",
               fontsize=7.5, color=ink)  # fmt: skip
    if known:
        high = "" if np.isinf(length.high) else f"{length.high / train_length:.2g}"
        ends = (
            f"{length.low / train_length:.2g} to {high}"
            if high
            else f"{length.low / train_length:.2g} on"
        )
        panel.text(j + 0.5, i + 0.72, ends, ha="center", va="center", fontsize=6, color=ink)
