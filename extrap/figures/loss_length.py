"""Perplexity against evaluation length, by protocol: which schemes read on beyond the length they
were trained on.

exp of the mean loss per token, over lengths of which a finite table has positions; runs that saw no
text are left out. Conventions of ALiBi (arXiv 2108.12409, figure 1), with both axes in logarithms.
"""

from extrap.figures.drawing import spread_note
from extrap.figures.drawing.length_panels import length_figure
from extrap.results.series import select

NEEDS = {"task": "nll", "metric": "nll", "seen": "text"}
PROTOCOLS = {
    "nonoverlap": "non-overlapping windows",
    "sliding": "sliding window",
    "last_segment": "same last segment, growing context",
}


def draw(rows):
    rows = select(rows, **NEEDS)
    note = spread_note(rows, "bands: 95 % bootstrap over documents")
    form = {"size": (2.35, 2.7), "gap": 0.12, "each": True, "perplexity": True}
    form["names"] = lambda found: [*(s.label for s in found), "learned (to 64)"]
    title = "Perplexity beyond the training length"
    return length_figure(rows, PROTOCOLS, "perplexity per token", title, note, **form)
