"""Accuracy against the number of documents that a weak retriever hands over: does a reader gain
from more of them?

Dashed: how often the right document is among them, what a perfect reader gets. A reader that stays
below while the dashed line rises has more to read than it can use. Conventions of Lost in the
Middle (arXiv 2307.03172, figure 11).
"""

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from extrap.figures.drawing.axes import spread_note
from extrap.figures.drawing.ends import label_ends, label_height, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series

NEEDS = {"task": "multidoc", "metric": "accuracy", "protocol": "retrieved", "seen": "retrieval"}
MAKE = " data=suite"


def draw(rows):
    handed = select(rows, **NEEDS | {"metric": "handed"}).groupby("at")["value"].mean()
    rows = select(rows, **NEEDS)
    found, counts = series(rows), np.unique(rows["at"])
    figure, axes = panels(
        (1, 1),
        (4.6, label_height(len(found), 2.5)),
        right=label_room([s.label for s in found]),
        gap=0,
        top=0.6,
    )
    panel = axes[0, 0]
    panel.plot(
        handed.index,
        handed,
        color="black",
        linestyle=(0, (4, 2)),
        linewidth=1.2,
        label="handed over",
        zorder=5,
    )
    ends = [curve(panel, s, s.rows, "at", within=(0, 1)) for s in found]
    panel.set_xscale("log", base=2)
    panel.xaxis.set_major_locator(FixedLocator(counts))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:g}"))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set(ylim=(-0.03, 1.05), xlabel="documents handed over", ylabel="accuracy")
    label_ends(panel, ends)
    longest = rows.loc[rows["at"] == counts[-1], "length"].max()
    dashed = (
        f"dashed: the right one is among them · {counts[-1]:g} documents are {longest:g} tokens"
    )
    entitle(
        figure,
        "Reading what a weak retriever found",
        f"{spread_note(rows, 'bands: 95 % Wilson')} · {dashed}",
    )
    return figure
