"""Loss at each position of one long window, a panel per scheme, beside the same tokens read through
windows of L.

Full below windowed: text from further back than L helps; above: the model breaks. Positions are
pooled in bins that grow with them. Conventions of arXiv 2205.09921 (figure 5), with the loss as
perplexity.
"""

import math

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from extrap.figures.drawing.axes import mark_training, perplexity_axis, spread_note
from extrap.figures.drawing.layout import entitle, panels
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.style import style_of
from extrap.results.series import select, series

NEEDS = {"task": "nll-position", "metric": "nll", "axis": "position", "seen": "text"}
ACROSS, DOTTED = 4, {"linestyle": (0, (1, 1.2)), "marker": "", "linewidth": 1.3}


def draw(rows):
    rows = select(rows, **NEEDS)
    longest = rows.groupby("run")["length"].transform("max")
    rows = rows[rows["length"] == longest]
    found, columns = series(rows), min(ACROSS, len(series(rows)))
    grid = math.ceil(len(found) / columns), columns
    figure, axes = panels(grid, (1.95, 1.6), right=0.3, gap=0.22, between=0.62)
    for k, panel in enumerate(axes.flat):
        if k >= len(found):
            panel.remove()
            continue
        s, part = found[k], found[k].rows
        curve(panel, s, part[part["protocol"] == "windowed"], "at", through=np.exp, **DOTTED)
        curve(panel, s, part[part["protocol"] == "full"], "at", through=np.exp, marker="")
        _positions(panel, int(part["train_length"].min()), int(part["length"].max()))
        mark_training(panel, sorted(part["train_length"].unique()))
        perplexity_axis(panel)
        panel.set_title(s.label, color=style_of(s).text)
        panel.set_xlabel("position (tokens)" if k + columns >= len(found) else "")
        panel.set_ylabel("perplexity per token" if k % columns == 0 else "")
    _share(axes, len(found), columns)
    marks = (
        "line: one window; dotted: windows of L · "
        f"{spread_note(rows, 'bands: 95 % bootstrap over documents')}"
    )
    entitle(figure, "Perplexity by position", marks)
    return figure


def _positions(panel, length: int, longest: int) -> None:
    """log2 axis in tokens with a tick at the training length and at every fourth part and multiple
    of it.
    """
    ticks = [length * 4.0**k for k in range(-10, 10) if 1 <= length * 4.0**k <= longest]
    panel.set_xscale("log", base=2)
    panel.set_xlim(1, longest * 1.06)
    panel.xaxis.set_major_locator(FixedLocator(ticks))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda length, _: f"{length:g}"))


def _share(axes, count: int, columns: int) -> None:
    shown = list(axes.flat)[:count]
    low, high = min(p.get_ylim()[0] for p in shown), max(p.get_ylim()[1] for p in shown)
    for k, panel in enumerate(shown):
        panel.set_ylim(low, high)
        panel.tick_params(labelleft=k % columns == 0)
