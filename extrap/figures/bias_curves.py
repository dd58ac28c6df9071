"""Biases of the distance, a line per head, as drawn (dotted) and trained: what a scheme learned to
look at.

Added logits of the first layer; most schemes share them among layers. Beyond the dotted line no
training ever looked.
"""

from extrap.figures.drawing import (
    INKS,
    entitle,
    leftmost,
    legend_beside,
    lowest,
    mark_training,
    note,
    style_of,
    wrapped,
)
from extrap.results.series import select, series

NEEDS = {"task": "diagnostics", "metric": "bias"}
OF = " of the first layer, as trained"
ACROSS = 3


def enough(rows) -> bool:
    return bool(((rows["layer"] == 0) & (rows["protocol"] == "trained")).any())


def draw(rows):
    rows = select(rows, **NEEDS)
    rows = rows[rows["layer"] == 0]
    found = series(rows[rows["protocol"] == "trained"])
    margins = {"right": 0.7, "gap": 0.55, "between": 0.62}
    figure, axes = wrapped(len(found), ACROSS, (2.3, 1.7), **margins)
    untrained = rows[rows["protocol"] == "untrained"]
    for panel, s in zip(axes, found, strict=True):
        own = untrained["run"].isin(set(s.rows["run"])) & (untrained["extension"] == s.extension)
        own &= untrained["study"].isin(set(s.rows["study"]))
        drawn = untrained[own & untrained["factor"].isin(set(s.rows["factor"]))]
        for head in sorted(s.rows["head"].unique()):
            ink = INKS[int(head) % len(INKS)]
            for part, line, width, label in (
                (drawn, (0, (1, 1.2)), 0.9, "_drawn"),
                (s.rows, "-", 1.2, f"head {head}"),
            ):
                curve = part[part["head"] == head].groupby("at")["value"].mean()
                stroke = {"color": ink, "linestyle": line, "linewidth": width}
                panel.plot(curve.index + 1, curve, label=label, **stroke)
        panel.set_xscale("log", base=2)
        panel.xaxis.set_major_formatter("{x:g}")
        mark_training(panel, [int(s.rows["train_length"].iloc[0])])
        panel.set_title(s.label, color=style_of(s).text)
        panel.set_xlabel("distance + 1 (tokens)" if lowest(panel) else "")
        panel.set_ylabel("bias" if leftmost(panel) else "")
    last = axes[min(ACROSS, len(axes)) - 1]
    handles = [line for line in last.lines if line.get_label().startswith("head")]
    legend_beside(last, handles)
    words = f"{note(rows)} · dotted: before training; means over seeds"
    entitle(figure, "Biases of the distance", words)
    return figure
