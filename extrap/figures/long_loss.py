"""Loss on the tokens that a long context helps, beside the loss on all, against visible context.

The tokens of the second panel are the same for every run; those of the third are a run's own, so
that its curves show who keeps what a context of L gave, and not who is better. LongPPL, arXiv
2410.23771.
"""

from extrap.figures.drawing.axes import length_axis, mark_training, spread_note
from extrap.figures.drawing.ends import label_ends, label_height, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series

NEEDS = {"task": "long-loss", "metric": "nll", "seen": "text"}
PROTOCOLS = {"all": "all tokens", "match": "told from far away", "own": "helped within L"}


def draw(rows):
    rows = select(rows, **NEEDS)
    shown = [p for p in PROTOCOLS if p in set(rows["protocol"])]
    found, lengths = series(rows), sorted(rows["train_length"].unique())
    room = label_room([f"{s.label} (to 64)" for s in found])
    height = label_height(len(found), 2.5)
    figure, axes = panels((1, len(shown)), (2.3, height), right=room, gap=room + 0.45, top=0.86)
    for panel, protocol in zip(axes[0], shown, strict=True):
        here = rows[rows["protocol"] == protocol]
        ends = [curve(panel, s, s.rows, "length") for s in series(here)]
        length_axis(panel, rows["length"], lengths)
        mark_training(panel, lengths)
        panel.set_title(PROTOCOLS[protocol], pad=16)
        panel.set_xlabel("visible context (tokens)")
        label_ends(panel, ends)
    axes[0, 0].set_ylabel("nats per token")
    bands = "bands: 95 % bootstrap over documents"
    entitle(figure, "Loss where a long context helps", spread_note(rows, bands))
    return figure
