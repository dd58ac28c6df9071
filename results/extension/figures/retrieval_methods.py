"""Retrieval by method of reading further: accuracy by depth, a column a length, a row a family.

The methods that were measured at most depths, each at its greatest factor, and the plain reader in
every panel; records: their number grows with the length. Dotted: naming any value of the context.
"""

import numpy as np

from extrap.figures.drawing import (
    SHARE,
    entitle,
    label_ends,
    label_height,
    label_room,
    level,
    line,
    panels,
    spread_note,
)
from extrap.results.in_force import in_force_note
from extrap.results.methods import compared, methods, order, target, title
from extrap.results.series import select
from extrap.studies.extension.families import FAMILIES, family, told_apart

NEEDS = {"task": "kv", "metric": "accuracy", "protocol": "records", "seen": "retrieval"}
OF = " of several extensions"
MAKE = " extension=direct,pi,ntk"
PLAIN = "direct"
MANY = 6
"""Methods of a panel above which means alone are drawn: bands of thirteen cover all."""
MULTIPLES = (0.25, 0.5, 0.75, 1, 2, 4, 8)


def enough(rows) -> bool:
    return rows["extension"].nunique() > 1


def draw(rows):
    every, guess = rows, select(rows, **NEEDS | {"metric": "guess"})
    rows = compared(select(methods(rows), **NEEDS))
    rows = rows[(rows["parent"] == min(rows["parent"])) & ~rows["log_n"]].dropna(subset="depth")
    depths = rows.groupby("method")["depth"].nunique()
    shown = order(depths.index[depths == depths.max()])
    multiples = [m for m in MULTIPLES if m in set(rows["multiple"])]
    names = {f: [m for m in shown if family(m) == f and m != PLAIN] for f in FAMILIES}
    names = {f: [m for m in shown if m in (PLAIN, *of)] for f, of in names.items() if of}
    size = (1.7, label_height(max(map(len, names.values())), 1.7))
    margins = {"right": label_room([title(m) for m in shown]), "gap": 0.18, "between": 0.6}
    figure, axes = panels((len(names), len(multiples)), size, left=0.95, **margins)
    for (i, j), panel in np.ndenumerate(axes):
        kind, here = list(names)[i], rows[rows["multiple"] == multiples[j]]
        shade = {"band": 0, "thin": False} if len(names[kind]) > MANY else {}
        ends = [
            line(panel, here[here["method"] == m], "depth", style, title(m), **shade)
            for m, style in told_apart(names[kind]).items()
        ]
        for height in guess.loc[guess["length"].isin(here["length"]), "value"].unique():
            level(panel, height, "guess", (0, (1, 4)))
        panel.set(xlim=(-0.04, 1.04), ylim=SHARE, xticks=(0, 0.5, 1))
        panel.set_title(f"{multiples[j]:g}x" if i == 0 else "")
        panel.set_xlabel("depth" if i == len(names) - 1 else "")
        panel.set_ylabel("" if j else f"{kind}\n\nretrieval accuracy")
        panel.tick_params(labelleft=j == 0)
        if j == len(multiples) - 1:
            label_ends(panel, ends)
    factor = f" · set for {target(rows):g}x where a factor exists" if target(rows) > 1 else ""
    below = f"{spread_note(rows, 'bands: 95 % Wilson')}; more than {MANY} methods: means{factor} · "
    below += "dotted: a guess" + in_force_note(every, rows["method"])
    entitle(figure, f"Retrieval by method of reading further, {rows['parent'].iloc[0]}", below)
    return figure
