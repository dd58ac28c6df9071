"""Accuracy of multi-query recall against the size of the model, a panel per number of records.

Conventions of Zoology (arXiv 2312.04927), whose x axis is the width of the model: how large must it
be to hold so many records? Read at the training length. A line is one scheme, hollow where all its
seeds are below the gate.
"""

from extrap.figures.drawing import SHARE, entitle, label_ends, level, note, panels
from extrap.results.series import select
from extrap.studies.reference.figures import scale_axis

NEEDS = {"task": "mqar", "metric": "accuracy", "extension": "direct"}
OF, MAKE = " of models of several sizes", " data=mqar task=[mqar] model=tiny,small"


def enough(rows) -> bool:
    return scale_axis.sizes(rows["params"]).nunique() > 1


def draw(rows):
    chance = select(rows, **NEEDS | {"metric": "chance"})["value"].min()
    rows = select(rows, **NEEDS)
    rows = rows[rows["length"] == rows["train_length"]]
    counts = sorted(rows["protocol"].unique(), key=lambda name: int(name.rpartition("-")[2]))
    schemes = sorted(rows["scheme"].unique())
    figure, axes = panels((1, len(counts)), (2.0, 1.8), labels=schemes, gap=0.25)
    for panel, protocol in zip(axes[0], counts, strict=True):
        found = scale_axis.points(rows, NEEDS | {"protocol": protocol})
        level(panel, chance, "chance")
        ends = [
            scale_axis.line(panel, scheme, found[found["scheme"] == scheme]) for scheme in schemes
        ]
        scale_axis.size_axis(panel, found)
        panel.set(ylim=SHARE, title=f"{protocol.rpartition('-')[2]} records")
        panel.set_ylabel("" if panel is not axes[0, 0] else "accuracy")
        panel.tick_params(labelleft=panel is axes[0, 0])
    label_ends(axes[0, -1], scale_axis.apart(axes[0, -1], found["size"], ends))
    below = f"{note(rows)} · at L · hollow: below the gate"
    entitle(figure, "Multi-query recall by size", f"{below} · dotted: chance")
    return figure
