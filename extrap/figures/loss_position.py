"""What the text further back than L is worth, at each position of one long window.

It draws the loss in one window less the loss of the same tokens in windows of L. Below 0:
text from further back than L helps; above: the model breaks. One line per series, over bins of
positions that grow with them, each the median of three neighbours; from three seeds on with a
t-interval of the paired differences. Lines leave the frame .5 nats above 0. Conventions of arXiv
2205.09921 (figure 5).
"""

from dataclasses import replace

import numpy as np

from extrap.figures.drawing import (
    QUIET,
    entitle,
    label_ends,
    line,
    log2_axis,
    mark_training,
    note,
    panels,
    style_of,
)
from extrap.results.series import Series, one_factor, seeds, select, series

NEEDS = {"task": "nll-position", "metric": "nll", "axis": "position", "seen": "text"}
CUT = 0.5
SMOOTH = 3


def enough(rows) -> bool:
    return {"full", "windowed"} <= set(rows["protocol"])


def draw(rows):
    rows = select(rows, **NEEDS)
    rows = rows.assign(factor=one_factor(rows))
    readers = rows.groupby(["study", "run", "extension", "factor"])
    rows = rows[rows["length"] == readers["length"].transform("max")]
    found = [(s, table) for s in series(rows) if len(table := difference(s))]
    figure, ((panel,),) = panels((1, 1), (3.6, 2.6), labels=[s.label for s, _ in found])
    ends = []
    for s, table in found:
        style = style_of(s)
        drawn = table.rename_axis("at").reset_index().melt("at").dropna()
        drawn = drawn.assign(low=np.nan, high=np.nan, metric=NEEDS["metric"])
        band = 0.15 * (table.shape[1] > 2)
        end = line(panel, drawn, "at", style, s.label, band=band, marker="")
        ends.append(replace(end, y=min(end.y, CUT)))
    panel.axhline(0, color=QUIET, linewidth=0.8, label="zero", zorder=1.5)
    trained = sorted(rows["train_length"].unique())
    low = min(float(table.mean(axis=1).min()) for _, table in found)
    L = int(min(trained))
    longest = int(rows["length"].max())
    log2_axis(panel, [L * 2.0**k for k in range(-2, 12) if L * 2.0**k <= longest])
    panel.set(xlim=(L / 4, longest * 1.06), ylim=(min(-0.1, 1.3 * low), CUT))
    mark_training(panel, trained)
    panel.set(xlabel="position (tokens)", ylabel="change of loss (nats per token)")
    label_ends(panel, ends)
    below = (
        f"{note(rows)} · thin: seeds, thick: their mean; band: 95 % t-interval over seeds from 3 "
        f"on · medians of {SMOOTH} bins · above {CUT:g} is cut off"
    )
    entitle(figure, "What text further back than L is worth", below)
    return figure


def difference(s: Series):
    """Returns (positions, runs): full less windowed in nats, smoothed, where both were read."""
    full, windowed = (
        seeds(s.rows[s.rows["protocol"] == protocol], "at") for protocol in ("full", "windowed")
    )
    table = (full - windowed).dropna(how="all")
    return table.rolling(SMOOTH, center=True, min_periods=1).median()
