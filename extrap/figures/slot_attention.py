"""Attention of the query by slot: what position alone receives, and what the record asked for
receives more.

Left: attention to a slot over the share of uniform attention, contents permuted over slots, trained
(lines) and untrained (dotted). Right: attention to the record asked for less that to a dummy in its
place. arXiv 2406.16008.
"""

import numpy as np

from extrap.figures.drawing.axes import level, spread_note
from extrap.figures.drawing.axes import perplexity_axis as plain_log
from extrap.figures.drawing.diagnostics import beside_columns, datasets, lines, of_state, once
from extrap.figures.drawing.ends import label_ends
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series, spread

NEEDS = {"task": "diagnostics", "metric": "slot_mass"}
LEAST = 0.01
"""Of uniform attention. An untrained gate that forgets goes to 1e-20: it would flatten all else."""


def draw(rows):
    raw, calibrated, uniform = (
        _read(rows, metric) for metric in ("slot_mass", "calibrated", "slot_mass_uniform")
    )
    raw, calibrated = (part[part["layer"].isna()] for part in (raw, calibrated))
    data, lengths = datasets(raw), sorted(raw["length"].unique())
    height, room = beside_columns(raw, 1.6)
    figure, axes = panels(
        (len(data), 2 * len(lengths)), (1.9, height), right=room, gap=0.45, between=0.42, left=0.95
    )
    for (i, j), panel in np.ndenumerate(axes):
        n, position = lengths[j % len(lengths)], j < len(lengths)
        share = float(uniform.loc[uniform["length"] == n, "value"].iloc[0])
        last = float(raw.loc[raw["length"] == n, "at"].max())
        part = of_state(raw if position else calibrated, "trained")
        here = part[(part["data"] == data[i]) & (part["length"] == n)]
        ends = lines(panel, here.assign(at=here["at"] / last), "at", 1 / share if position else 1.0)
        if position:
            _untrained(panel, of_state(raw, "untrained"), n, share, last)
            plain_log(panel)
            level(panel, 1, "uniform")
            panel.set_ylim(bottom=max(panel.get_ylim()[0], LEAST))
        panel.set_xlim(-0.03, 1.03)
        panel.set_title(
            f"{'slot / uniform' if position else 'calibrated'} · {n} tokens" if i == 0 else ""
        )
        panel.set_ylabel(f"{data[i]}\n\nattention" if j == 0 else "")
        panel.set_xlabel("slot (0 = first, 1 = last)" if i == len(data) - 1 else "")
        if j == axes.shape[1] - 1:
            label_ends(panel, ends)
    bars = "bands: 95 % t-interval over inputs"
    entitle(
        figure,
        "Attention of the query to each slot",
        f"{spread_note(raw, bars)} · dotted: untrained; horizontal: uniform attention",
    )
    return figure


def _read(rows, metric):
    return select(rows, **NEEDS | {"metric": metric})


def _untrained(panel, rows, n, share, last) -> None:
    for s in series(once(rows[rows["length"] == n])):
        curve = spread(s.rows, "at")
        style = {
            "color": style_of(s).colour,
            "linestyle": (0, (1, 1.2)),
            "linewidth": 0.9,
            "label": "_untrained",
        }
        panel.plot(curve.index / last, curve["value"] / share, **style)
