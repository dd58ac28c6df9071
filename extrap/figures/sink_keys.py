"""Attention to the first tokens by layer, untrained and trained: is there a sink, and was it
inborn?

Mean attention to key 0 .. 15 over heads and the queries from 8 on, at the training length. The last
line is what uniform causal attention gives, which is heavy at the start by itself. Conventions of
arXiv 2309.17453 and 2410.10781.
"""

import math

import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from extrap.figures.drawing.axes import note
from extrap.figures.drawing.diagnostics import STATES, of_state
from extrap.figures.drawing.layout import leftmost, panels
from extrap.figures.drawing.page import POINT, text_width
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series, where_known

NEEDS = {"task": "diagnostics", "metric": "mass"}
ACROSS, INK = 4, "#ff1f5b"


def draw(rows):
    uniform = select(rows, **NEEDS | {"metric": "mass_uniform"})
    rows = select(rows, **NEEDS)
    rows, uniform = (where_known(part) for part in (rows, uniform))
    trained, untrained = of_state(rows, "trained"), of_state(rows, "untrained")
    found = series(trained)
    tables = [_table(s, untrained, uniform) for s in found]
    columns = min(ACROSS, len(found))
    lines, tall = math.ceil(len(found) / columns), max(len(table) for table in tables)
    width = max(1.9, POINT * text_width([s.label for s in found], 7.5))
    first = [tables[k - k % columns] for k in range(len(tables))]  # of the line of panels
    own = [not t.index.equals(f.index) for t, f in zip(tables, first, strict=True)]
    gap = 1.05 if any(own) else 0.22
    figure, axes = panels(
        (lines, columns), (width, 0.2 * tall), right=0.95, gap=gap, between=0.55, left=1.05
    )
    top = max(table.to_numpy().max() for table in tables)
    for k, (i, j) in enumerate(np.ndindex(axes.shape)):
        if k >= len(found):
            axes[i, j].remove()
            continue
        panel, table, s = axes[i, j], tables[k], found[k]
        panel.pcolormesh(
            table.to_numpy(), cmap="viridis", vmin=0, vmax=top, edgecolors="white", linewidth=0.3
        )
        panel.add_patch(
            Rectangle((0, 0), 1, len(table), facecolor="none", edgecolor=INK, linewidth=1)
        )
        panel.set_title(s.label, color=style_of(s).text, fontsize=7.5, pad=3)
        panel.set_yticks(
            np.arange(len(table)) + 0.5,
            table.index if leftmost(panel) or own[k] else [""] * len(table),
            fontsize=6.5,
        )
        panel.set_xticks((0.5, 5.5, 10.5, 15.5), ("0", "5", "10", "15"))
        panel.set_xlabel("key" if k + columns >= len(found) else "")
        panel.set(xlim=(0, table.shape[1]), ylim=(len(table), 0))
        panel.grid(visible=False)
        panel.tick_params(length=0, pad=2)
        panel.spines[:].set_visible(False)
    box, inch = axes[0, -1].get_position(), 1 / figure.get_size_inches()[0]
    bar = figure.add_axes((box.x1 + 0.25 * inch, box.y0, 0.1 * inch, box.height))
    figure.colorbar(
        ScalarMappable(Normalize(0, top), "viridis"), cax=bar, label="attention"
    ).outline.set_visible(False)
    entitle(
        figure,
        "Attention to the first tokens",
        f"{note(rows)} · framed: token 0; uniform: equal attention to all keys seen",
    )
    return figure


def _table(s, untrained, uniform):
    """One line per state and layer, one column per key; the mean over seeds."""
    runs = set(s.rows["run"])
    parts = {"untrained": untrained[untrained["run"].isin(runs)], "trained": s.rows}
    lines = {}
    for state in STATES:
        for layer, part in parts[state].groupby("layer"):
            lines[f"{state}, layer {layer}"] = part.groupby("at")["value"].mean()
    lines["uniform"] = uniform[uniform["run"].isin(runs)].groupby("at")["value"].mean()
    return pd.DataFrame(lines).T
