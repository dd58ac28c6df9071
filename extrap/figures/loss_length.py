"""Perplexity against evaluation length, by protocol: which schemes read on beyond the length they
were trained on.

exp of the mean loss per token; a run past a finite table is absent, a run that saw no text left
out. Conventions of ALiBi (arXiv
2108.12409, figure 1) with length in log2 and perplexity in log; small, the same on linear axes, cut
off at CUT times the least.
"""

import numpy as np
from matplotlib.ticker import MaxNLocator

from extrap.figures.drawing.axes import spread_note
from extrap.figures.drawing.length_panels import length_figure
from extrap.figures.drawing.style import style_of
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
    found = [(s, s.rows[s.rows["protocol"] == shown[0]]) for s in series(rows)]
    note = spread_note(rows, "bands: 95 % bootstrap over documents")
    return length_figure(
        rows,
        PROTOCOLS,
        "perplexity per token",
        "Perplexity beyond the training length",
        note,
        size=(2.35, 2.7),
        gap=0.12,
        each=True,
        perplexity=True,
        also=lambda panel, protocol: _linear(panel, found) if protocol == shown[0] else None,
        names=lambda found: [s.label for s in found] + ["learned (to 64)"],
    )


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
