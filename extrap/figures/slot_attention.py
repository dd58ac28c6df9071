"""Attention of the query by slot: what position alone receives, and what the record asked for
receives more.

Left: attention to a slot over the share of uniform attention, contents permuted over slots, trained
(lines) and untrained (dotted). Right: attention to the record asked for, as a share of all, less
that to a dummy in its place. Means over inputs and seeds. arXiv 2406.16008.
"""

from typing import Any

import numpy as np

from extrap.figures.drawing import DOTS, entitle, label_ends, level, note, panels, perplexity_axis
from extrap.figures.drawing.diagnostics import beside_columns, lines, of_state, once
from extrap.results.series import select

NEEDS = {"task": "diagnostics", "metric": "slot_mass"}
LEAST = 0.2
"""Of uniform attention. An untrained gate that forgets goes to 1e-20: it would flatten all else."""
TITLES = {True: "a slot, over uniform attention", False: "the record asked for, less a dummy"}
MEAN = {"thin": False, "band": 0}


def draw(rows):
    metrics = ("slot_mass", "calibrated", "slot_mass_uniform")
    raw, calibrated, uniform = (select(rows, **NEEDS | {"metric": metric}) for metric in metrics)
    raw, calibrated = (part[part["layer"].isna()] for part in (raw, calibrated))
    data = sorted(raw["data"].unique())
    lengths = sorted(raw["length"].unique())
    height, room = beside_columns(raw, 1.8)
    margins: dict[str, Any] = {"right": room, "gap": 0.5, "between": 0.62, "left": 0.95}
    figure, axes = panels((len(data), 2 * len(lengths)), (2.5, height), **margins)
    for (i, j), panel in np.ndenumerate(axes):
        n = lengths[j % len(lengths)]
        position = j < len(lengths)
        every = raw if position else calibrated
        here = every[every["length"] == n]
        here = here.assign(at=here["at"] / raw.loc[raw["length"] == n, "at"].max())
        share = float(uniform.loc[uniform["length"] == n, "value"].iloc[0])
        scale = 1 / share if position else 1.0
        if position:
            dots = {"linestyle": DOTS, "linewidth": 0.9, "marker": "", "zorder": 2}
            lines(panel, once(of_state(here, "untrained")), "at", scale, **MEAN | dots)
        after = of_state(here, "trained")
        ends = lines(panel, after[after["data"] == data[i]], "at", scale, **MEAN)
        if position:
            perplexity_axis(panel)
            level(panel, 1, "uniform")
            panel.set_ylim(bottom=max(panel.get_ylim()[0], LEAST))
        panel.set_xlim(-0.03, 1.03)
        panel.set_title(f"{TITLES[position]} · {n} tokens" if i == 0 else "")
        panel.set_ylabel(f"{data[i]}\n\nattention" if j == 0 else "")
        panel.set_xlabel("slot (0 = first, 1 = last)" if i == len(data) - 1 else "")
        if j == axes.shape[1] - 1:
            label_ends(panel, ends)
    words = f"{note(raw)} · means over inputs and seeds · dotted: untrained; horizontal: uniform"
    entitle(figure, "Attention of the query to each slot", words)
    return figure
