"""Accuracy of multi-query recall against the size of the model, a panel per number of records and
length.

Conventions of Zoology (arXiv 2312.04927), whose x axis is the width of the model: how large must it
be to hold so many records? A line joins sizes of one scheme (`model=tiny,small`).
"""

from dataclasses import replace

import numpy as np
from matplotlib.ticker import NullFormatter

from extrap.figures.drawing import (
    QUIET,
    curve,
    entitle,
    label_ends,
    label_height,
    label_room,
    panels,
    spread_note,
)
from extrap.results.series import select, series

NEEDS = {"task": "mqar", "metric": "accuracy"}
MAKE = " data=mqar task=[mqar]"
MOST = 4
"""Lengths that have a panel, from the shortest."""


def draw(rows):
    chance = select(rows, **NEEDS | {"metric": "chance"})["value"].min()
    rows = joined(select(rows, **NEEDS))
    shown = sorted(rows["protocol"].unique(), key=lambda name: int(name.rsplit("-")[-1]))
    lengths = sorted(rows["length"].unique())[:MOST]
    found = series(rows)
    room = label_room([s.label for s in found])
    figure, axes = panels(
        (len(shown), len(lengths)),
        (1.8, label_height(len(found), 1.6)),
        right=room,
        gap=0.25,
        between=0.4,
    )
    for i, j in np.ndindex(axes.shape):
        panel, protocol, n = axes[i, j], shown[i], lengths[j]
        here = rows[(rows["protocol"] == protocol) & (rows["length"] == n)]
        panel.axhline(chance, color=QUIET, linestyle=(0, (1, 1.6)), linewidth=0.9, label="chance")
        ends = [curve(panel, s, s.rows, "params", within=(0, 1), bars=True) for s in series(here)]
        panel.set_xscale("log")
        panel.set_xlim(rows["params"].min() / 1.3, rows["params"].max() * 1.3)
        ticks = apart(rows["params"])
        panel.set_xticks(ticks, [f"{size / 1e6:.2g} M" for size in ticks], minor=False)
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set(
            ylim=(-0.03, 1.05), ylabel="" if j else f"accuracy, {protocol.split('-')[1]} records"
        )
        panel.tick_params(labelleft=j == 0)
        panel.set_title(f"{n / here['train_length'].iloc[0]:g}x ({n:g} tokens)")
        panel.set_xlabel("parameters" if i == len(shown) - 1 else "")
        if j == len(lengths) - 1:
            last = max(end.x for end in ends)  # schemes end at sizes of their own
            label_ends(panel, [replace(end, x=last) for end in ends])
    bars = "bars: 95 % bootstrap over contexts"
    entitle(figure, "Multi-query recall by size", f"{spread_note(rows, bars)} · dotted: chance")
    return figure


def apart(sizes) -> list[float]:
    """The sizes in order, less those within a quarter of one before."""
    kept = []
    for size in sorted(set(sizes)):
        if not kept or size > 1.25 * kept[-1]:
            kept.append(size)
    return kept


def joined(rows):
    """Runs of one scheme and seed that differ in size under one name, so that they are one line; of
    several of one size the first.
    """
    names = rows["scheme"] + "-sizes-s" + rows["seed"].astype(str)
    place = ["run", "protocol", "length", "extension", "params"]
    return rows.sort_values("run").assign(run=names).drop_duplicates(place)
