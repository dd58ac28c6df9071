"""How far back the answer reaches: share of the gradient of the last logit within a distance.

|d logit / d x_j| summed from the last position backwards. Where it passes .99 is the empirical
receptive field. arXiv 2212.10356.
"""

import numpy as np

from extrap.figures.drawing.axes import level, spread_note
from extrap.figures.drawing.diagnostics import beside_columns, columns, lines
from extrap.figures.drawing.ends import label_ends
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select

NEEDS = {"task": "diagnostics", "metric": "gradient"}


def draw(rows):
    rows = select(rows, **NEEDS)
    rows = rows.assign(at=rows["at"] + 1)
    lengths = sorted(rows["length"].unique())
    shown, (height, room) = columns(rows), beside_columns(rows, 1.7)
    figure, axes = panels(
        (len(lengths), len(shown)), (2.1, height), right=room, gap=0.25, between=0.45, left=0.95
    )
    for (i, j), panel in np.ndenumerate(axes):
        name, part = shown[j]
        ends = lines(panel, part[part["length"] == lengths[i]], "at")
        panel.set_xscale("log", base=2)
        panel.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        level(panel, 0.99, ".99")
        panel.set(
            ylim=(-0.02, 1.04),
            title=name if i == 0 else "",
            xlabel="distance + 1 (tokens)" if i == len(lengths) - 1 else "",
        )
        panel.set_ylabel(f"{lengths[i]} tokens\n\nshare within" if j == 0 else "")
        panel.tick_params(labelleft=j == 0)
        if j == len(shown) - 1:
            label_ends(panel, ends)
    bars = "bands: 95 % t-interval over inputs"
    entitle(
        figure,
        "How far back the answer reaches",
        f"{spread_note(rows, bars)} · dotted: .99 of the gradient",
    )
    return figure
