"""Biases of the distance, a line per head, as drawn (dotted) and trained: what a scheme learned to
look at.

Added logits of the first layer; most schemes share them among layers. Beyond the dotted line no
training ever looked.
"""

import math

import numpy as np

from extrap.figures.drawing.axes import mark_training, note
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.style import INKS, style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series

NEEDS = {"task": "diagnostics", "metric": "bias"}
ACROSS = 3


def draw(rows):
    rows = select(rows, **NEEDS)
    rows = rows[rows["layer"] == 0]
    found = series(rows[rows["protocol"] == "trained"])
    columns = min(ACROSS, len(found))
    figure, axes = panels(
        (math.ceil(len(found) / columns), columns), (2.3, 1.7), right=0.7, gap=0.55, between=0.62
    )
    for k, (i, j) in enumerate(np.ndindex(axes.shape)):
        if k >= len(found):
            axes[i, j].remove()
            continue
        panel, s = axes[i, j], found[k]
        drawn = rows[(rows["protocol"] == "untrained") & rows["run"].isin(set(s.rows["run"]))]
        for head in sorted(s.rows["head"].unique()):
            ink = INKS[int(head) % len(INKS)]
            for part, line, width, label in (
                (drawn, (0, (1, 1.2)), 0.9, "_drawn"),
                (s.rows, "-", 1.2, f"head {head}"),
            ):
                curve = part[part["head"] == head].groupby("at")["value"].mean()
                panel.plot(
                    curve.index + 1, curve, color=ink, linestyle=line, linewidth=width, label=label
                )
        panel.set_xscale("log", base=2)
        panel.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        mark_training(panel, [int(s.rows["train_length"].iloc[0])])
        panel.set_title(s.label, color=style_of(s).text)
        panel.set_xlabel("distance + 1 (tokens)" if k + columns >= len(found) else "")
        panel.set_ylabel("bias" if j == 0 else "")
    handles = [line for line in axes[0, -1].lines if line.get_label().startswith("head")]
    axes[0, -1].legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.02, 1),
        frameon=False,
        fontsize=6.5,
        handlelength=1.2,
    )
    entitle(
        figure,
        "Biases of the distance",
        f"{note(rows)} · dotted: before training; means over seeds",
    )
    return figure
