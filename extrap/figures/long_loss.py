"""Loss on the tokens that a long context helps, beside the loss on all, against visible context.

The tokens of the second panel are the same for every run; those of the third are a run's own, so
that its curves show who keeps what a context of L gave, and not who is better. LongPPL, arXiv
2410.23771.
"""

from extrap.figures.drawing import spread_note
from extrap.figures.drawing.length_panels import length_figure
from extrap.results.series import select

NEEDS = {"task": "long-loss", "metric": "nll", "seen": "text"}
PROTOCOLS = {"all": "all tokens", "match": "told from far away", "own": "helped within L"}


def draw(rows):
    rows = select(rows, **NEEDS)
    note = spread_note(rows, "bands: 95 % bootstrap over documents")
    return length_figure(
        rows, PROTOCOLS, "nats per token", "Loss where a long context helps", note,
        size=(2.3, 2.5), gap=0.45, each=True, limits=None, across="visible context (tokens)",
    )  # fmt: skip
