"""The furthest distance at which a passkey is still found, against evaluation length: how much of a
context is used?

k_max, the largest distance such that at every distance up to it at least a fifth of the trials
succeed (arXiv 2306.15595, table 4). The dotted line is the furthest place that a context has.
"""

import numpy as np

from extrap.figures.drawing.axes import QUIET, length_axis, mark_training, spread_note
from extrap.figures.drawing.layout import entitle, label_ends, label_height, label_room, panels
from extrap.figures.drawing.lines import curve
from extrap.results.series import select, series

NEEDS = {"task": "haystack", "protocol": "passkey", "metric": "k_max", "seen": "retrieval"}


def draw(rows):
    rows = select(rows, **NEEDS)
    found, train_lengths = series(rows), sorted(rows["train_length"].unique())
    room = label_room([f"{s.label} (to 64)" for s in found])
    figure, axes = panels((1, 1), (3.6, label_height(len(found), 2.7)), right=room, gap=0, top=0.86)
    panel, lengths = axes[0, 0], np.unique(rows["length"].astype(float))
    length_axis(panel, lengths, train_lengths)
    mark_training(panel, train_lengths)
    panel.plot(
        lengths, lengths - 2, color=QUIET, linestyle=(0, (1, 1.6)), linewidth=0.9, label="furthest"
    )
    ends = [curve(panel, s, s.rows, "length", within=(0, lengths.max())) for s in found]
    panel.set_ylim(-0.03 * lengths.max(), 1.05 * lengths.max())
    panel.set_ylabel("k_max (tokens)")
    label_ends(panel, ends)
    entitle(figure, "Passkey: how far back it is found", spread_note(rows, "bootstrap over trials"))
    return figure
