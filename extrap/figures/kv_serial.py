"""Retrieval accuracy at every index of the asked record (serial position), a panel per length: how
wide are the ends?

Conventions of Lost in the Middle (arXiv 2307.03172, figure 7), at every index in place of a few
depths.
"""

import numpy as np

from extrap.figures.drawing.axes import QUIET, spread_note
from extrap.figures.drawing.ends import label_ends, label_height, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series

NEEDS = {"task": "kv-serial", "metric": "accuracy", "axis": "index", "seen": "retrieval"}


def draw(rows):
    guesses = select(rows, task="kv-serial", metric="guess").groupby("length")["value"].first()
    rows = select(rows, **NEEDS)
    found, lengths = series(rows), sorted(rows["length"].unique())[:4]
    room = label_room([s.label for s in found])
    figure, axes = panels(
        (1, len(lengths)), (3.0, label_height(len(found), 2.2)), right=room, gap=room + 0.4, top=0.6
    )
    for panel, n in zip(axes[0], lengths, strict=True):
        here = rows[rows["length"] == n]
        panel.axhline(
            guesses[n], color=QUIET, linestyle=(0, (1, 4)), linewidth=0.9, label="guess", zorder=1.5
        )
        parts = [(s, s.rows[s.rows["length"] == n]) for s in found]
        ends = [
            curve(panel, s, part, "at", within=(0, 1), markersize=2, linewidth=1.1)
            for s, part in parts
            if len(part)
        ]
        panel.set(
            ylim=(-0.03, 1.05),
            xlabel="index of the record",
            ylabel="accuracy" if n == lengths[0] else "",
        )
        multiple = n / here["train_length"].iloc[0]
        title = "training length" if multiple == 1 else f"{multiple:g}x"
        panel.set_title(f"{title} ({n:g} tokens, {int(here['at'].max()) + 1} records)")
        panel.set_xticks(np.unique(np.linspace(0, here["at"].max(), 5).round()))
        label_ends(panel, ends)
    bands = f"bands: 95 % Wilson over {rows['n'].min():g} trials"
    entitle(
        figure,
        "Retrieval at every index",
        f"{spread_note(rows, bands)} · wide dots: any value of the context",
    )
    return figure
