"""The same last tokens with more and more context: their perplexity, and the loss against the least
context.

Dashed: the last L tokens alone (crop), what a model has that throws the rest away; a line below its
crop gains from text further back than L. A series whose gain at L does not lie below 0 ignores its
context and is marked "below the gate". Conventions of arXiv 2305.19466 (appendix F).
"""

import numpy as np

from extrap.figures.drawing.axes import (
    QUIET,
    length_axis,
    mark_training,
    perplexity_axis,
    spread_note,
)
from extrap.figures.drawing.layout import entitle, label_ends, label_height, label_room, panels
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.style import style_of
from extrap.results.series import select, series, spread

NEEDS = {"task": "context-gain", "metric": "gain", "seen": "text"}
PANELS = (
    ("nll", "perplexity of the last L/2 tokens", np.exp),
    ("gain", "change of loss (nats per token)", None),
)


def draw(rows):
    gains, every = select(rows, **NEEDS), rows
    rooms = label_room([s.label for s in series(gains)] + ["learned (to 64)"])
    height = label_height(len(series(gains)), 2.7)
    figure, axes = panels((1, 2), (2.7, height), right=rooms, gap=rooms + 0.7, top=0.86)
    lengths = np.unique(select(every, **NEEDS | {"metric": "nll"})["length"].astype(float))
    for panel, (metric, title, through) in zip(axes[0], PANELS, strict=True):
        rows = select(every, **NEEDS | {"metric": metric})
        train_lengths, ends = sorted(rows["train_length"].unique()), []
        for s in series(rows):
            _crop(panel, s, through)
            ends.append(
                curve(panel, s, s.rows[s.rows["protocol"] == "full"], "length", through=through)
            )
        length_axis(panel, lengths, train_lengths)
        mark_training(panel, train_lengths)
        panel.set_xlabel("visible context (tokens)")
        panel.set_title(title, pad=16)
        if through:
            perplexity_axis(panel)
        else:
            panel.axhline(0, color=QUIET, linewidth=0.8, label="zero", zorder=1.5)
        label_ends(panel, ends)
    bands = "bands: 95 % bootstrap over documents"
    entitle(
        figure,
        "What more context is worth",
        f"{spread_note(gains, bands)} · dashed: the last L tokens alone",
    )
    return figure


def _crop(panel, s, through) -> None:
    rows = s.rows[s.rows["protocol"] == "crop"]
    if len(rows):
        middle = spread(rows, "length")["value"]
        panel.plot(
            middle.index,
            through(middle) if through else middle,
            color=style_of(s).colour,
            linestyle=(0, (3, 2)),
            linewidth=0.8,
            label=f"{s.label}, crop",
            zorder=2,
        )
