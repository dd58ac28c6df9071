"""Passkeys found against their distance to the query, a panel per evaluation length: how much of a
context is used?

A passkey is one record in noise. Accuracy of each distance, pooled over four neighbouring ones;
bars are Wilson intervals of one seed and t-intervals over seeds from three on. The furthest
distance up to which a fifth are found, k_max (arXiv 2306.15595, table 4), is a column of the rows.
"""

import math

import numpy as np
import pandas as pd

from extrap.figures.drawing.axes import QUIET, spread_note
from extrap.figures.drawing.ends import End, label_ends, label_height, label_room
from extrap.figures.drawing.layout import leftmost, panels
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.rows import comparable
from extrap.results.series import select, series
from extrap.results.stats.intervals import wilson

NEEDS = {
    "task": "haystack",
    "protocol": "passkey",
    "metric": "accuracy",
    "axis": "distance",
    "seen": "retrieval",
}
POOLED = 4
MOST = 4
"""Panels: the lengths that are read furthest."""


def draw(rows):
    rows = pooled(comparable(select(rows, **NEEDS)))
    lengths = sorted(rows["length"].unique())[-MOST:]
    labels = [f"{s.label} (to 64)" for s in series(rows)]
    room, height = label_room(labels), label_height(len(labels), 1.8)
    figure, axes = panels((1, len(lengths)), (1.95, height), right=room, gap=0.18)
    for panel, length in zip(axes[0], lengths, strict=True):
        ends = []
        for s in series(rows):
            part = s.rows[s.rows["length"] == length]
            if part.empty:
                ends.append(End(s.label, style_of(s), float(s.rows["length"].max()), math.nan))
            else:
                ends.append(curve(panel, s, part, "at", bars=True, within=(0, 1)))
        trained = float(rows["train_length"].min())
        if trained < length:
            panel.axvline(trained, color=QUIET, linestyle=(0, (1, 1.6)), linewidth=0.9, label="L")
        panel.set_xscale("log", base=2)
        ticks = [2.0**k for k in range(2, int(math.log2(length)) + 1, 2)]
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.set_xticks([], minor=True)
        panel.set(ylim=(-0.03, 1.05), xlabel="distance to the query (tokens)")
        panel.set_title(f"{length / trained:g}x ({length:g} tokens)")
        panel.tick_params(labelleft=leftmost(panel))
        if panel is axes[0, -1]:
            label_ends(panel, ends)
    axes[0, 0].set_ylabel("accuracy")
    below = spread_note(rows, "95 % Wilson") + f" · {POOLED} distances each · dotted: L"
    entitle(figure, "Passkey: how far back it is found", below)
    return figure


def pooled(rows):
    """Neighbouring distances as one: their mean, at their geometric mean, with Wilson's interval of
    all their trials.
    """
    place = ["run", "extension", "factor", "length"]
    rows = rows.sort_values([*place, "at"])
    group = rows.groupby(place, dropna=False).cumcount() // POOLED
    by = [*place, "group"]
    out = []
    for _, part in rows.assign(group=group).groupby(by, dropna=False):
        n = part["n"].astype(float)
        hits, trials = float((part["value"] * n).sum()), float(n.sum())
        low, high = wilson(round(hits), trials)
        at = float(np.exp(np.log(part["at"].astype(float)).mean()))
        out.append(
            part.iloc[[0]].assign(
                value=hits / trials,
                low=low,
                high=high,
                n=int(trials),
                at=round(at, 6),
                depth=np.nan,
            )
        )
    return pd.concat(out, ignore_index=True)
