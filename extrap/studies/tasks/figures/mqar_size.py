"""Accuracy of multi-query recall against the size of the model, a panel per number of records.

Conventions of Zoology (arXiv 2312.04927), whose x axis is the width of the model: how large must it
be to hold so many records? Read at the training length. A line is one scheme, hollow where all its
seeds are below the gate.
"""

from itertools import chain

from extrap.figures.drawing import SHARE, entitle, label_ends, level, note, panels
from extrap.results.series import select
from extrap.studies.reference.figures import scale_axis

NEEDS = {"task": "mqar", "metric": "accuracy", "extension": "direct"}
OF, MAKE = " of models of several sizes", " data=mqar task=[mqar] model=tiny,small"


def enough(rows) -> bool:
    return scale_axis.sizes(rows["params"]).nunique() > 1


def draw(rows):
    chances = select(rows, **NEEDS | {"metric": "chance"})
    chance = chances["value"].min()
    rows = select(rows, **NEEDS)
    rows = rows[rows["length"] == rows["train_length"]]
    protocols = {int(name.rpartition("-")[2]): name for name in rows["protocol"].unique()}
    points = {
        protocol: scale_axis.points(rows, NEEDS | {"protocol": protocol})
        for protocol in protocols.values()
    }
    schemes = sorted({*chain.from_iterable(found["scheme"] for found in points.values())})
    shape = (1, len(protocols))
    figure, axes = panels(shape, (2.0, 1.8), labels=schemes, gap=0.25)
    for panel, (records, protocol) in zip(axes[0], sorted(protocols.items()), strict=True):
        found = points[protocol]
        level(panel, chance, "chance")
        ends = []
        for scheme in schemes:
            own = found[found["scheme"] == scheme]
            ends.append(scale_axis.line(panel, scheme, own))
        scale_axis.size_axis(panel, found)
        panel.set(ylim=SHARE, title=f"{records} records")
        is_first = panel is axes[0, 0]
        panel.set_ylabel("accuracy" if is_first else "")
        panel.tick_params(labelleft=is_first)
    last = axes[0, -1]
    ends = scale_axis.apart(last, found["size"], ends)
    label_ends(last, ends)
    below = f"{note(rows)} · at L · hollow: below the gate"
    entitle(figure, "Multi-query recall by size", f"{below} · dotted: chance")
    return figure
