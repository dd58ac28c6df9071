"""Perplexity against evaluation length, by protocol: which schemes read on beyond the length they
were trained on.

exp of the mean loss per token; a run past a finite table is absent, a run that saw no text left
out. Conventions of ALiBi (arXiv
2108.12409, figure 1) with length in log2 and perplexity in log; small, the same on linear axes, cut
off at CUT times the least.
"""

import numpy as np
from matplotlib.ticker import MaxNLocator

from extrap.figures.drawing.axes import length_axis, mark_training, perplexity_axis, spread_note
from extrap.figures.drawing.ends import label_ends, label_height, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series, spread

NEEDS = {"task": "nll", "metric": "nll", "seen": "text"}
PROTOCOLS = {
    "nonoverlap": "non-overlapping windows",
    "sliding": "sliding window",
    "last_segment": "same last segment, growing context",
}


CUT = 3


def draw(rows):
    rows = select(rows, **NEEDS)
    shown = [p for p in PROTOCOLS if p in set(rows["protocol"])]
    found, train_lengths = series(rows), sorted(rows["train_length"].unique())
    room = label_room([s.label for s in found] + ["learned (to 64)"])
    figure, axes = panels(
        (1, len(shown)),
        (2.35, label_height(len(found), 2.7)),
        right=room,
        gap=room + 0.12,
        top=0.86,
    )
    ends = []
    for panel, protocol in zip(axes[0], shown, strict=True):
        parts = [(s, s.rows[s.rows["protocol"] == protocol]) for s in found]
        ends.append(
            [curve(panel, s, part, "length", through=np.exp) for s, part in parts if len(part)]
        )
        length_axis(panel, rows["length"], train_lengths)
        perplexity_axis(panel)
        mark_training(panel, train_lengths)
        panel.set_title(PROTOCOLS[protocol], pad=16)
    # One scale for all protocols, so that they can be compared.
    low, high = min(p.get_ylim()[0] for p in axes[0]), max(p.get_ylim()[1] for p in axes[0])
    for panel, named in zip(axes[0], ends, strict=True):
        panel.set_ylim(low, high)
        panel.tick_params(labelleft=panel is axes[0, 0])
        label_ends(panel, named)
    _linear(axes[0, 0], [(s, s.rows[s.rows["protocol"] == shown[0]]) for s in found])
    axes[0, 0].set_ylabel("perplexity per token")
    entitle(
        figure,
        "Perplexity beyond the training length",
        spread_note(rows, "bands: 95 % bootstrap over documents"),
    )
    return figure


def _linear(panel, parts) -> None:
    """The curves once more in the empty corner, as linear axes show them: who explodes leaves the
    frame.
    """
    inset = panel.inset_axes((0.14, 0.72, 0.3, 0.26))
    means = [(s, np.exp(spread(part, "length")["value"])) for s, part in parts if len(part)]
    for s, values in means:
        inset.plot(
            values.index,
            values,
            **style_of(s).stroke | {"linewidth": 0.9, "markersize": 1.5, "label": "_linear"},
        )
    least = min(values.min() for _, values in means)
    inset.set(ylim=(0, CUT * least), xticks=[values.index[-1] for _, values in means][:1])
    inset.tick_params(labelsize=6, length=1.5, pad=1)
    inset.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    inset.grid(visible=False)
