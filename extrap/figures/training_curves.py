"""Loss or accuracy of every part of the training data against training step: what was learned, and
when.

A panel for each part: its accuracy where some run comes to nine right answers in ten, else its
loss. A curve belongs to a run, whatever extensions it was evaluated under. In panels of accuracy,
a run is grey and named "below the gate" if no task reached its gate at evaluation. The figure names
runs that diverged, with or without a point on a curve.
"""

import pandas as pd

from extrap.figures.drawing import (
    SHARE,
    End,
    entitle,
    label_ends,
    label_height,
    label_room,
    note,
    style_of,
    thin_lines,
    wrapped,
)
from extrap.results.series import seeds, select, series

NEEDS = {"task": "train", "axis": "step"}
TITLES = {"nll": "loss (nats per token)", "accuracy": "accuracy in training"}
LEARNED = 0.9


def draw(rows):
    trained = select(rows, **NEEDS).assign(extension="direct", factor=1.0)
    trained = trained.drop_duplicates(["study", "run", "protocol", "metric", "at"])
    shown = {}
    for protocol, metric in parts(trained):
        part = select(trained, protocol=protocol, metric=metric)
        shown[protocol, metric] = series(judged(part, rows) if metric == "accuracy" else part)
    rooms = [label_room(_labels(found)) for found in shown.values()]
    height = label_height(max(len(found) for found in shown.values()), 2.5)
    right = max(rooms[1::2] or rooms)
    gap = max(rooms[::2]) + 0.45
    margins = {"right": right, "gap": gap, "between": 0.8}
    figure, axes = wrapped(len(shown), 2, (3.2, height), **margins)
    for panel, ((protocol, metric), found) in zip(axes, shown.items(), strict=True):
        ends = [_curve(panel, s) for s in found]
        if metric == "accuracy":
            panel.set_ylim(SHARE)
        panel.set(title=f"{protocol}: {TITLES[metric]}", xlabel="training step")
        panel.margins(x=0.02)
        label_ends(panel, ends)
    diverged = rows[rows["metric"] == "diverged_at"].drop_duplicates(["study", "run"])
    diverged = diverged.sort_values(["run", "study"])
    ended = [f"{r.scheme} (seed {r.seed}) at step {r.value:g}" for r in diverged.itertuples()]
    words = f"{note(trained)} · thin: seeds, thick: their mean"
    words += f" · diverged: {', '.join(ended)}" * bool(ended)
    entitle(figure, "Training", words)
    return figure


def parts(rows) -> list[tuple[str, str]]:
    """Returns (protocol, metric) of every part of the data: losses, then accuracies, by name."""
    best = rows.groupby(["protocol", "metric"])["value"].max().unstack()
    best = best.reindex(columns=["nll", "accuracy"])
    learned = best["nll"].isna() | (best["accuracy"] >= LEARNED)
    losses = [(str(part), "nll") for part in best.index[~learned]]
    return losses + [(str(part), "accuracy") for part in best.index[learned]]


def _labels(found) -> list[str]:
    """Returns labels as `label_ends` writes them: runs that stop early get "(to STEP)"."""
    ends = {s.label: s.rows["at"].max() for s in found}
    last = max(ends.values())
    return [name if end == last else f"{name} (to {end:g})" for name, end in ends.items()]


def judged(part: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Returns training rows with the status of evaluation, for runs that reached no gate there."""
    gates = rows[(rows["metric"] == "gate") & (rows["extension"] == "direct")]
    passed = set(gates.loc[gates["status"] == "ok", "run"])
    failed = gates[~gates["run"].isin(passed)].set_index("run")["status"].to_dict()
    pairs = zip(*(part[name].to_numpy(object) for name in ("run", "status")), strict=True)
    return part.assign(status=[failed.get(run, status) for run, status in pairs])


def _curve(panel, s) -> End:
    style = style_of(s)
    table = seeds(s.rows, "at")
    thin_lines(panel, table, style)
    every = table.dropna()  # a mean of other seeds at the next step would be a jump of its own
    middle = (table if every.empty else every).mean(axis=1)
    stroke = style.stroke | {"markevery": max(1, len(middle) // 8)}
    panel.plot(middle.index, middle, label=s.label, zorder=3 if s.ok else 2, **stroke)
    return End(s.label, style, table.index[-1], middle.iloc[-1])
