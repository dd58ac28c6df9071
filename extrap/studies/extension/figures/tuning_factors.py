"""Train factor against evaluation factor: loss and retrieval at the length that a method is set
for, by method.

A row is what the run was fine-tuned for (1: not at all), a column what the method is set for when
it reads; length = that factor times the training length. Cells: means over seeds, nats per token of
the last segment, and accuracy over all depths of records. Of the scheme with most methods.
"""

import numpy as np

from extrap.figures.drawing import entitle, note, panels
from extrap.figures.drawing.heatmap import cells
from extrap.results.methods import methods
from extrap.results.series import select
from extrap.studies.extension.methods import of_main_parent, order, title

NEEDS = {"task": "nll", "metric": "nll", "protocol": "last_segment", "seen": "text"}
RETRIEVAL = {"task": "kv", "metric": "accuracy", "protocol": "records", "seen": "retrieval"}
ALSO = (RETRIEVAL,)
OF = " of fine-tuned runs"
MAKE = " extension=pi finetune=full finetune.factor=2,4,8 extension.factor=2,4,8"
MAPS = {"loss": "cividis_r", "retrieval": "cividis"}


def enough(rows) -> bool:
    return methods(rows)["tuned"].notna().any()


def draw(rows):
    rows = of_main_parent(methods(rows))
    rows = rows[
        (rows["options"] == "")
        & ~rows["log_n"]
        & (rows["set_for"] == rows["multiple"])
        & (rows["set_for"] > 1)
    ]
    found = {"loss": select(rows, **NEEDS), "retrieval": select(rows, **RETRIEVAL)}
    found = {what: part for what, part in found.items() if len(part)}
    tuned = rows[rows["tuned"].notna() & (rows["method"] == rows["tuned_with"])]
    several = tuned.groupby("method")["tuned"].nunique()
    shown = order(several.index[several >= several.max()])
    down = sorted({1.0, *tuned["tuned"]})
    across = sorted(tuned["set_for"].unique())
    figure, axes = panels(
        (len(found), len(shown)),
        (0.42 * len(across), 0.3 * len(down)),
        right=0.3,
        gap=0.3,
        between=0.45,
        left=1.0,
    )
    for i, (what, part) in enumerate(found.items()):
        tables = [_table(part, method, down, across) for method in shown]
        low = np.nanmin(tables)
        high = np.nanmax(tables)
        columns = [f"{factor:g}" for factor in across]
        lines = [f"{factor:g}" for factor in down]
        for panel, table, method in zip(axes[i], tables, shown, strict=True):
            cells(panel, table, cmap=MAPS[what], vmin=low, vmax=high)
            panel.set_title(title(method) if i == 0 else "")
            panel.set_xticks(np.arange(len(across)) + 0.5, columns)
            named = lines if panel is axes[i, 0] else []
            panel.set_yticks(np.arange(len(down)) + 0.5, named)
            panel.set_xlabel("set for" if i == len(found) - 1 else "")
        axes[i, 0].set_ylabel(f"{what}\n\ntuned for")
    entitle(
        figure,
        "Train factor against evaluation factor",
        f"{note(rows)} · at the length that the reader is set for · 1: not tuned · loss: nats per "
        "token",
    )
    return figure


def _table(rows, method: str, down, across) -> np.ndarray:
    rows = rows[rows["method"] == method]
    own = rows["tuned"].isna() | (rows["tuned_with"] == method)
    rows = rows[own]
    rows = rows.assign(row=rows["tuned"].fillna(1.0))
    of_runs = rows.groupby(["row", "set_for", "run"])["value"].mean()
    means = of_runs.groupby(level=["row", "set_for"]).mean()
    table = means.unstack().reindex(index=down, columns=across)
    return table.to_numpy(float)
