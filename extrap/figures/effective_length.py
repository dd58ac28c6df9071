"""Effective length by task and series: up to which multiple of the training length does a score
stay at 85 %?

A cell is the longest length, over L, up to which the score keeps 85 % of its value at L (linear in
log2 of the length between measured ones; NoLiMa, arXiv 2502.05167), with its 95 % interval: over
seeds from three on, of the scores for one seed. The sign >= marks a lower bound: no measured length
fails. A cell is blank if the study lacks the task or the run lies below its gate. Series are sorted
by their average, a geometric mean over the tasks that they have.
"""

from typing import Any

import numpy as np
from matplotlib import colormaps

from extrap.figures.drawing import POINT, WIDTH, entitle, note, panels, style_of, text_width
from extrap.results.effective import Effective, effective_lengths
from extrap.results.series import series, whole
from extrap.results.summary import reach

NEEDS = {"task": "kv", "metric": "accuracy", "extension": "direct", "seen": "retrieval"}
OF = " at several lengths"
ALSO = ({"metric": "accuracy"}, {"metric": "recall"})
CELL, LEAST, LINE = 0.62, 0.52, 0.3
"""Inches: width of a cell, its least width on a narrow page, height."""
MOST = 16
"""Multiple of L at which the colours end."""


def enough(rows) -> bool:
    return any(effective_lengths(s) for s in whole(rows))  # up to the first that has one


def draw(rows):
    rows = rows[rows["extension"] == "direct"]
    found = {s.label: s for s in series(rows.assign(status="ok"))}
    table = reach(rows)
    lines = {}
    for label in table.index:
        length = float(found[label].rows["train_length"].iloc[0])
        cells = [_over(cell, length) for cell in table.loc[label]]
        lines[label] = [(cell, _interval(cell)) for cell in cells] + [_average(cells)]

    def furthest(label: str) -> tuple[float, str]:
        average, _ = lines[label][-1]
        return -average.tokens, label

    order = sorted(lines, key=furthest)
    columns = [*table.columns]
    if len(columns) > 1:
        columns.append("average")
    left = 0.25 + POINT * text_width(order, 7.5)
    wide = POINT * text_width(columns, 7)
    head = 0.75 * wide + 0.5
    most = len(columns)
    turn = 45
    page = WIDTH.get() or 99
    right = max(0.15, head - CELL / 2)
    if left + LEAST * most + right > page:  # columns go into several blocks
        right = 0.15
        head = wide + 0.5
        turn = 90
        room = page - left - right
        most = min(most, max(1, int(room / LEAST)))
    blocks = [columns[k : k + most] for k in range(0, len(columns), most)]
    margins: dict[str, Any] = {"left": left, "right": right, "top": head, "between": head - 0.3}
    size = (CELL * most, LINE * len(order))
    figure, axes = panels((len(blocks), 1), size, least=LEAST * most, **margins)
    for b, panel in enumerate(axes[:, 0]):
        panel.set(xlim=(0, most), ylim=(len(order), 0), xticks=[], yticks=[])
        panel.grid(visible=False)
        panel.spines[:].set_visible(False)
        for j, place in enumerate(blocks[b]):
            panel.text(j + 0.4, -0.1, place, ha="left", va="bottom", rotation=turn, fontsize=7)
        for i, label in enumerate(order):
            ink = style_of(found[label]).text
            panel.text(-0.1, i + 0.5, label, ha="right", va="center", fontsize=7.5, color=ink)
            for j in range(len(blocks[b])):
                _cell(panel, j, i, *lines[label][b * most + j])
    words = "length over L up to which 85 % of the score at L is kept, ≥: at least; below it its "
    words += "95 % interval, from 3 seeds on · average: geometric mean"
    entitle(figure, "Effective length by task", f"{note(rows)} · {words}")
    return figure


def _over(cell: Effective, length: float) -> Effective:
    """Returns an effective length in tokens as a multiple of the training length."""
    return Effective(cell.tokens / length, cell.low / length, cell.high / length, cell.least)


def _average(cells: list[Effective]) -> tuple[Effective, str]:
    """Returns the geometric mean of the cells that are known, and of how many if not of all."""
    known = [cell for cell in cells if not np.isnan(cell.tokens)]
    mean = float(2 ** np.mean(np.log2([cell.tokens for cell in known])))
    some = f"of {len(known)} tasks" if len(known) < len(cells) else ""
    return Effective(mean, np.nan, np.nan, any(cell.least for cell in known)), some


def _interval(cell: Effective) -> str:
    if np.isnan(cell.low):
        return ""
    end = "on" if np.isinf(cell.high) else f"to {cell.high:.2g}"
    return f"{cell.low:.2g} {end}"


def _cell(panel, j: int, i: int, cell: Effective, below: str) -> None:
    if np.isnan(cell.tokens):
        return
    share = np.log2(max(1.0, cell.tokens)) / np.log2(MOST)
    colour = colormaps["viridis"](min(1.0, share))
    panel.fill_between([j + 0.03, j + 0.97], i + 0.05, i + 0.95, color=colour, linewidth=0)
    ink = {"ha": "center", "va": "center", "color": "white" if share < 0.6 else "black"}
    words = f"{'≥' * cell.least}{cell.tokens:.2g}x"
    panel.text(j + 0.5, i + (0.36 if below else 0.5), words, fontsize=7.5, **ink)
    if below:
        panel.text(j + 0.5, i + 0.72, below, fontsize=6, **ink)
