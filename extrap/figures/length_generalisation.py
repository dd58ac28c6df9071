"""Exact match against the length of the problem, a panel per task: does an algorithm outlive its
examples?

Shaded: the lengths of training, as far as they were evaluated. Dotted: naming values at random.
Conventions of arXiv 2305.19466 (figure 3).
"""

import math

from extrap.figures.drawing.axes import QUIET, note
from extrap.figures.drawing.layout import entitle, label_ends, label_height, label_room, panels
from extrap.figures.drawing.lines import curve
from extrap.results.series import select, series

NEEDS = {"task": "algorithmic", "metric": "accuracy"}
MAKE = " data=algorithmic"
ACROSS = 2


def draw(rows):
    chance = select(rows, **NEEDS | {"metric": "chance"})
    borders = trained(rows)
    rows = select(rows, **NEEDS)
    protocols = sorted(rows["protocol"].unique())
    labels = [s.label for s in series(rows)] + [
        s.label for p in protocols for s in series(rows[rows["protocol"] == p])
    ]
    room, columns = label_room(labels), min(ACROSS, len(protocols))
    size = (2.5, label_height(len(set(labels)), 1.7))
    figure, axes = panels(
        (math.ceil(len(protocols) / columns), columns),
        size,
        right=room,
        gap=room + 0.2,
        between=0.62,
    )
    for k, panel in enumerate(axes.flat):
        if k >= len(protocols):
            panel.remove()
            continue
        here = rows[rows["protocol"] == protocols[k]]
        if protocols[k] in borders:
            panel.axvspan(
                0,
                borders[protocols[k]],
                color="#eeeeee",
                linewidth=0,
                zorder=0,
                label="trained lengths",
            )
        guess = chance[chance["protocol"] == protocols[k]].drop_duplicates("at").sort_values("at")
        panel.plot(
            guess["at"],
            guess["value"],
            color=QUIET,
            linestyle=(0, (1, 1.6)),
            linewidth=0.9,
            label="chance",
        )
        ends = [curve(panel, s, s.rows, "at", bars=True, within=(0, 1)) for s in series(here)]
        panel.set(title=protocols[k], xlim=(0, here["at"].max() * 1.03), ylim=(-0.03, 1.05))
        panel.set_xlabel("symbols" if k + columns >= len(protocols) else "")
        panel.set_ylabel("exact match" if k % columns == 0 else "")
        label_ends(panel, ends)
    marks = (
        "bars: 95 % Wilson over trials of one seed, t-interval over seeds from 3 on · shaded: "
        "trained lengths; dotted: chance"
    )
    entitle(figure, "Length generalisation", f"{note(rows)} · {marks}")
    return figure


def trained(rows) -> dict[str, float]:
    """{protocol: the longest evaluated problem that training held}. The gate is the mean over these
    lengths, so its n counts them.
    """
    gates, cells, out = select(rows, **NEEDS | {"metric": "gate"}), select(rows, **NEEDS), {}
    for protocol, gate in gates.groupby("protocol"):
        here = cells[cells["protocol"] == protocol]
        inside = round(gate["n"].max() / here["n"].max())
        out[str(protocol)] = float(sorted(here["at"].unique())[inside - 1])
    return out
