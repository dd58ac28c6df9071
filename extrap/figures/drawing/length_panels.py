"""A number against evaluation length, a panel per protocol: what figures of accuracy share."""

import math
from dataclasses import replace

from extrap.figures.drawing.axes import QUIET, length_axis, mark_training, spread_note
from extrap.figures.drawing.ends import End, label_ends, label_height, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.titles import entitle
from extrap.results.series import series

DOTS = {"color": QUIET, "linestyle": (0, (1, 1.6)), "linewidth": 0.9, "zorder": 1.5}


def length_figure(
    rows, protocols: dict[str, str], what: str, title: str, interval: str, chance=None
):
    """A panel for each of the protocols (its words) that rows hold, one scale from 0 to 1;
    interval: what that of one seed is; chance: rows of what naming an answer at random gives.
    """
    shown = [p for p in protocols if p in set(rows["protocol"])]
    found, train_lengths = (
        series(rows[rows["protocol"].isin(shown)]),
        sorted(rows["train_length"].unique()),
    )
    room = label_room([f"{s.label} (to 64)" for s in found])
    figure, axes = panels(
        (1, len(shown)), (2.6, label_height(len(found), 2.5)), right=room, gap=0.25, top=0.86
    )
    seen: list[End] = []
    for panel, protocol in zip(axes[0], shown, strict=True):
        parts = [(s, s.rows[s.rows["protocol"] == protocol]) for s in found]
        ends = [curve(panel, s, part, "length", within=(0, 1)) for s, part in parts if len(part)]
        if chance is not None:
            for value in chance.loc[chance["protocol"] == protocol, "value"].unique():
                panel.axhline(value, label="chance", **DOTS)
        length_axis(panel, rows["length"], train_lengths)
        mark_training(panel, train_lengths)
        panel.set_ylim(-0.03, 1.05)
        panel.set_title(protocols[protocol], pad=16)
        panel.tick_params(labelleft=panel is axes[0, 0])
        named = {end.label for end in ends}
        away = [replace(end, y=math.nan, elsewhere=True) for end in seen if end.label not in named]
        seen += [end for end in ends if end.label not in {other.label for other in seen}]
        if panel is axes[0, -1]:
            label_ends(panel, ends + away)
    axes[0, 0].set_ylabel(what)
    dotted = "" if chance is None or chance.empty else " · dotted: chance"
    entitle(figure, title, spread_note(rows, interval) + dotted)
    return figure
