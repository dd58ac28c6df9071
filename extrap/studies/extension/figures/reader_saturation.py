"""Accuracy against the number of documents that a weak retriever hands over: does a reader gain
from more of them?

Dashed: how often the right document is among them, what a perfect reader gets. A reader that stays
below while the dashed line rises has more to read than it can use. Conventions of Lost in the
Middle (arXiv 2307.03172, figure 11).
"""

import numpy as np

from extrap.figures.drawing import (
    SHARE,
    curve,
    entitle,
    label_ends,
    log2_axis,
    panels,
    spread_note,
)
from extrap.results.series import select, series

NEEDS = {"task": "multidoc", "metric": "accuracy", "protocol": "retrieved", "seen": "retrieval"}
MAKE = " data=suite"


def draw(rows):
    retrieved = select(rows, **NEEDS | {"metric": "handed"})
    handed = retrieved.groupby("at")["value"].mean()
    rows = select(rows, **NEEDS)
    found = series(rows)
    labels = [s.label for s in found]
    counts = np.unique(rows["at"])
    figure, ((panel,),) = panels((1, 1), (4.6, 2.5), labels=labels, top=0.6)
    dashed = {"color": "black", "linestyle": (0, (4, 2)), "linewidth": 1.2, "zorder": 5}
    panel.plot(handed.index, handed, label="handed over", **dashed)
    ends = [curve(panel, s, s.rows, "at", within=(0, 1)) for s in found]
    log2_axis(panel, counts)
    panel.set(ylim=SHARE, xlabel="documents handed over", ylabel="accuracy")
    label_ends(panel, ends)
    most = counts[-1]
    longest = rows.loc[rows["at"] == most, "length"].max()
    below = f"{spread_note(rows, 'bands: 95 % Wilson')} · dashed: the right document is among them"
    below += f" · {most:g} documents are {longest:g} tokens"
    entitle(figure, "Reading what a weak retriever found", below)
    return figure
