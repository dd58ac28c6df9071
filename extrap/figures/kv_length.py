"""Retrieval accuracy against length, the mean over depths: how long is a context that still answers?

Conventions of arXiv 2312.00752 (induction heads, test length on a log axis). One seed has no interval here, as trials are shared by
depths; three and more have a t-interval.
"""

import numpy as np

from extrap.figures.axis import length_axis, mark_training, spread_note
from extrap.figures.curve import curve
from extrap.figures.layout import entitle, label_ends, label_height, label_room, panels
from extrap.rows import one_corpus
from extrap.series import select, series

NEEDS = {"task": "kv", "metric": "accuracy", "seen": "retrieval"}
PROTOCOLS = {"records": "records: pairs grow with length", "padded": "padded: fixed pairs, more filler"}


def means(rows):
    """Rows whose values are means over depths, one per run, extension, protocol and length, without intervals."""
    rows = one_corpus(select(rows, **NEEDS)).dropna(subset="depth")
    key = ["run", "extension", "factor", "protocol", "length"]
    return rows.assign(value=rows.groupby(key, dropna=False)["value"].transform("mean"), low=np.nan, high=np.nan).drop_duplicates(key)


def draw(rows):
    rows = means(rows)
    shown = [p for p in PROTOCOLS if p in set(rows["protocol"])]
    found, train_lengths = series(rows), sorted(rows["train_length"].unique())
    room = label_room([f"{s.label} (to 64)" for s in found])
    figure, axes = panels((1, len(shown)), (2.6, label_height(len(found), 2.5)), right=room, gap=0.25, top=0.86)
    for panel, protocol in zip(axes[0], shown, strict=True):
        ends = [curve(panel, s, s.rows[s.rows["protocol"] == protocol], "length", within=(0, 1)) for s in found]
        length_axis(panel, rows["length"], train_lengths)
        mark_training(panel, train_lengths)
        panel.set_ylim(-0.03, 1.05)
        panel.set_title(PROTOCOLS[protocol], pad=16)
        panel.tick_params(labelleft=panel is axes[0, 0])
        if panel is axes[0, -1]:
            label_ends(panel, ends)
    axes[0, 0].set_ylabel("accuracy, mean over depths")
    entitle(figure, "Retrieval accuracy by length", spread_note(rows, "no interval"))
    return figure
