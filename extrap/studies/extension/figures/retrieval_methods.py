"""Retrieval by method of reading further: accuracy by depth, a panel a length, a line a method.

The methods that were measured at most depths, each at its greatest factor, by family, and the plain
reader on top. Cells: means over seeds; records: their number grows with the length.
"""

import numpy as np

from extrap.figures.drawing import POINT, entitle, leftmost, note, panels, text_width
from extrap.figures.drawing.depth_panels import QUARTERS
from extrap.figures.drawing.dimensions import LENGTHS
from extrap.figures.drawing.heatmap import cells
from extrap.results.methods import compared, methods, target
from extrap.results.series import select
from extrap.studies.extension.families import FAMILIES, family
from extrap.studies.extension.methods import in_force_note, order, title

NEEDS = {"task": "kv", "metric": "accuracy", "protocol": "records", "seen": "retrieval"}
OF = " of several extensions"
MAKE = " extension=direct,pi,ntk"
PLAIN = "direct"
MULTIPLES = (0.25, 0.5, 0.75, 1, 2, 4, 8)
CELL, LINE = 0.22, 0.16


def enough(rows) -> bool:
    return rows["extension"].nunique() > 1


def tenths(share: float) -> str:
    """Returns 0, .1 ... .9, 1."""
    digits = f"{share:.1f}".removeprefix("0")
    return digits.replace("1.0", "1").replace(".0", "0")


def draw(rows):
    every = rows
    rows = compared(select(methods(rows), **NEEDS))
    parent = min(rows["parent"])
    rows = rows[(rows["parent"] == parent) & ~rows["log_n"]].dropna(subset="depth")
    measured = rows.groupby("method")["depth"].nunique()
    whole = measured.index[measured == measured.max()]
    shown = sorted(order(whole), key=lambda m: (m != PLAIN, FAMILIES.index(family(m))))
    families = [FAMILIES.index(family(m)) for m in shown]
    borders = np.flatnonzero(np.diff(families)) + 1
    known = sorted(rows["multiple"].unique())
    multiples = [m for m in known if m in MULTIPLES or LENGTHS.get()]
    depths = sorted(rows.loc[rows["method"].isin(shown), "depth"].unique())
    quarters = [i for i, depth in enumerate(depths) if depth in QUARTERS]
    names = [title(m) for m in shown]
    left = 0.25 + POINT * text_width(names, 7)
    margins = {"left": left, "right": 0.2, "gap": 0.12, "top": 0.6}
    width = CELL * len(depths)
    size = (width, LINE * len(shown))
    figure, axes = panels((1, len(multiples)), size, least=width, **margins)
    for panel, multiple in zip(axes[0], multiples, strict=True):
        here = rows[rows["multiple"] == multiple]
        means = here.groupby(["method", "run", "depth"])["value"].mean()
        over_runs = means.groupby(["method", "depth"]).mean().unstack()
        table = over_runs.reindex(index=shown, columns=depths)
        cells(panel, table.to_numpy(float), tenths, cmap="viridis", vmin=0, vmax=1)
        panel.set_yticks(np.arange(len(shown)) + 0.5, names)
        panel.tick_params(labelleft=leftmost(panel))
        panel.set_xticks(np.array(quarters) + 0.5, [QUARTERS[depths[i]] for i in quarters])
        for border in borders:
            panel.axhline(border, color="black", linewidth=1.2, label="family")
        panel.set(title=f"{multiple:g}x", xlabel="depth (0 = start)")
        panel.spines[:].set_visible(False)
    set_for = target(rows)
    factor = f" · set for {set_for:g}x where a factor exists" if set_for > 1 else ""
    below = f"{note(rows)} · tenths, means over seeds{factor} · black lines: families"
    below += in_force_note(every, rows["method"])
    entitle(figure, f"Retrieval by method of reading further, {parent}", below)
    return figure
