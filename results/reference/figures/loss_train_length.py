"""Perplexity against evaluation length for every training length, a panel per scheme: is it better
to train longer?

Square: the training length itself, so the squares are what training at the evaluated length gives;
a line that runs below the next square is a shorter training that reads as well. Conventions of
ALiBi (arXiv 2108.12409, figure 4).
"""

import numpy as np
from matplotlib import colormaps

from extrap.figures.drawing.axes import length_axis, note, perplexity_axis
from extrap.figures.drawing.ends import End, label_ends, label_room
from extrap.figures.drawing.layout import leftmost, lowest, wrapped
from extrap.figures.drawing.style import Style, style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series, spread

NEEDS = {"task": "nll", "metric": "nll", "protocol": "nonoverlap", "seen": "text"}
MAKE, OF = " data.length=32,64,128", " of several training lengths"
ACROSS = 3


def enough(rows) -> bool:
    return rows["train_length"].nunique() > 1


def draw(rows):
    rows = select(rows, **NEEDS)
    lengths, families = sorted(rows["train_length"].unique()), {}
    for s in series(rows):
        families.setdefault(s.label.rsplit(" L=", 1)[0], []).append(s)
    room = label_room([f"L = {max(lengths)} (to 1024)"])
    margins = {"right": room, "gap": room + 0.15, "between": 0.62}
    figure, axes = wrapped(len(families), ACROSS, (2.3, 2.2), **margins)
    for panel, (label, members) in zip(axes, families.items(), strict=True):
        by_length = sorted(members, key=lambda s: s.rows["train_length"].min())
        ends = [_line(panel, s, lengths) for s in by_length]
        length_axis(panel, rows["length"], lengths)
        perplexity_axis(panel)
        panel.set_title(label, color=style_of(by_length[0]).text)
        panel.set_xlabel("evaluation length (tokens)" if lowest(panel) else "")
        panel.set_ylabel("perplexity per token" if leftmost(panel) else "")
        label_ends(panel, ends)
    entitle(
        figure,
        "Perplexity by training length",
        f"{note(rows)} · non-overlapping windows; square: evaluated at the training length",
    )
    return figure


def _line(panel, s, lengths) -> End:
    length = int(s.rows["train_length"].min())
    shade = colormaps["viridis"](0.85 * lengths.index(length) / max(1, len(lengths) - 1))
    style, middle = Style(shade, "-", ""), np.exp(spread(s.rows, "length")["value"])
    panel.plot(middle.index, middle, color=shade, linewidth=1.3, label=s.label, zorder=3)
    if length in middle.index:
        panel.plot(
            [length],
            [middle[length]],
            "s",
            color=shade,
            markersize=5,
            label="_training length",
            zorder=4,
        )
    return End(f"L = {length}", style, middle.index[-1], middle.iloc[-1])
