"""Loss on text and accuracy on what else was trained, against training step: what was learned, and when.

A panel for each part of the training data. The gate at 90 % is that of retrieval; the answers of multivalue are drawn from several values,
so that the best reader stays far below 1. A curve belongs to a run, whatever extensions it was evaluated under. Runs that miss the gate
at evaluation are grey, dashed and named "not trained" in the retrieval panel. Runs that diverged are named under the figure, also those
that have no point on any curve.
"""

import pandas as pd

from extrap.figures.drawing.axes import QUIET, note
from extrap.figures.drawing.layout import End, entitle, label_ends, label_height, label_room, pairs, thin_lines
from extrap.figures.drawing.style import look
from extrap.figures.drawing.training_parts import parts
from extrap.results.series import seeds, select, series

NEEDS = {"task": "train", "axis": "step"}
GATE = 0.9
TITLES = {"text": "text loss (nats per token)", "retrieval": "retrieval accuracy in training"}


def draw(rows):
    trained = select(rows, **NEEDS).assign(extension="direct", factor=1.0).drop_duplicates(["run", "protocol", "metric", "at"])
    shown = {}
    for protocol, metric in parts(trained):
        part = select(trained, seen=protocol, protocol=protocol, metric=metric)
        if len(part):
            shown[protocol] = series(_judged(part, rows) if protocol == "retrieval" else part)
    rooms = [label_room(_labels(found)) for found in shown.values()]
    height = label_height(max(len(found) for found in shown.values()), 2.5)
    figure, axes = pairs(len(shown), (3.2, height), right=max(rooms[1::2] or rooms), gap=max(rooms[::2]) + 0.45, between=0.8)
    for panel, (protocol, found) in zip(axes, shown.items(), strict=True):
        ends = [_curve(panel, s) for s in found]
        if protocol == "retrieval":
            panel.axhline(GATE, color=QUIET, linestyle=(0, (4, 2)), linewidth=0.8, label="gate")
            panel.annotate("gate 90 %", (0, GATE), (3, 2), textcoords="offset points", fontsize=6.5, color=QUIET)
            panel.set_ylim(-0.03, 1.05)
        panel.set(title=TITLES.get(protocol, f"{protocol}: accuracy in training"), xlabel="training step")
        panel.margins(x=0.02)
        label_ends(panel, ends)
    entitle(figure, "Training", note(trained) + _diverged(rows))
    return figure


def _labels(found) -> list[str]:
    """As `label_ends` writes them, which says where those end that end early."""
    ends = [s.rows["at"].max() for s in found]
    return [s.label if end == max(ends) else f"{s.label} (to {end:g})" for s, end in zip(found, ends, strict=True)]


def _diverged(rows: pd.DataFrame) -> str:
    ends = rows[rows["metric"] == "diverged_at"].drop_duplicates("run").sort_values("run")
    said = [f"{row.scheme} (seed {row.seed}) at step {row.value:g}" for row in ends.itertuples()]
    return f" · diverged: {', '.join(said)}" if said else ""


def _judged(part: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Training rows with the status that the evaluation of their run came to: the gate is decided there."""
    failed = rows[(rows["task"] == "kv") & (rows["extension"] == "direct") & (rows["status"] != "ok")]
    verdict = dict(zip(failed["run"], failed["status"], strict=True))
    return part.assign(status=[verdict.get(run, status) for run, status in zip(part["run"], part["status"], strict=True)])


def _curve(panel, s) -> End:
    style, table = look(s), seeds(s.rows, "at")
    thin_lines(panel, table, style)
    middle = table.mean(axis=1)
    stroke = style.stroke | {"markevery": max(1, len(middle) // 8)}
    panel.plot(middle.index, middle, label=s.label, zorder=3 if s.ok else 2, **stroke)
    return End(s.label, style, middle.index[-1], middle.iloc[-1])
