"""A table of figures that differ in their data alone: losses and accuracies by length.
Conventions of ALiBi (arXiv 2108.12409, figure 1).
"""

from extrap.figures.drawing import level, spread_note
from extrap.figures.drawing.length_panels import length_figure
from extrap.figures.drawing.table import Table
from extrap.results.rows import comparable
from extrap.results.series import select

FIGURES = Table(__name__)
add = FIGURES.add
DOCUMENTS = "bands: 95 % bootstrap over documents"


def by_length(rows, needs: dict, protocols: dict, what: str, title: str, interval: str, **more):
    """Returns a figure of numbers against length, a panel per protocol.

    Args:
        protocols: {name: title of its panel}
        what: name of the y axis
        interval: of one seed
        more: arguments of `length_figure`
    """
    chance = select(rows, **needs | {"metric": "chance"})
    rows = comparable(select(rows, **{k: v for k, v in needs.items() if k != "protocol"}))

    def guesses(panel, protocol: str) -> None:
        for value in chance.loc[chance["protocol"] == protocol, "value"].unique():
            level(panel, value, "chance")

    note = spread_note(rows, interval) + " · dotted: chance" * (len(chance) > 0)
    return length_figure(rows, protocols, what, title, note, also=guesses, **more)


add(
    "aggregate_length",  # RULER (arXiv 2404.06654) and OOLONG (arXiv 2511.02817) in miniature
    "Accuracy of questions about all of a context, by its length: which label stands most often, "
    "and how often.",
    {"task": "aggregate", "metric": "accuracy"},
    by_length,
    protocols={
        "majority": "most frequent label",
        "first-half": "of the first half",
        "count": "count of a label",
    },
    what="accuracy",
    title="Questions about all of a context",
    interval="Wilson, 95 %",
    make=" data=aggregate task=[aggregate]",
)
add(
    "repeat_length",  # a copy is of L tokens: all that is asked for lies L back (kexue.fm 9708)
    "Token accuracy on running text and on later copies of a text, against length: is what was "
    "read once still there?",
    {"task": "repeat", "metric": "accuracy", "protocol": "later"},
    by_length,
    protocols={"nonrepeated": "running text", "later": "later copies of a text of L tokens"},
    what="token accuracy",
    title="Repeated and non-repeated text by length",
    interval=DOCUMENTS,
    make=" data=repeat",
    own={"ALSO": ({"task": "repeat", "metric": "accuracy"},)},
)
add(
    "loss_length",  # ALiBi (arXiv 2108.12409, figure 1), with both axes in logarithms
    "Perplexity against evaluation length, by protocol: which schemes read on beyond the length "
    "they were trained on.",
    {"task": "nll", "metric": "nll", "seen": "text"},
    by_length,
    protocols={
        "nonoverlap": "non-overlapping windows",
        "sliding": "sliding window",
        "last_segment": "same last segment, growing context",
    },
    what="perplexity per token",
    title="Perplexity beyond the training length",
    interval=DOCUMENTS,
    size=(2.35, 2.7),
    gap=0.12,
    each=True,
    perplexity=True,
    names=lambda found: [*(s.label for s in found), "learned (to 64)"],
)
add(
    "long_loss",  # LongPPL (arXiv 2410.23771); tokens of the third panel are a run's own
    "Loss on the tokens that a long context helps, and on all tokens, against visible context.",
    {"task": "long-loss", "metric": "nll", "seen": "text"},
    by_length,
    protocols={"all": "all tokens", "match": "told from far away", "own": "helped within L"},
    what="nats per token",
    title="Loss where a long context helps",
    interval=DOCUMENTS,
    size=(2.3, 2.5),
    gap=0.45,
    each=True,
    limits=None,
    across="visible context (tokens)",
)
