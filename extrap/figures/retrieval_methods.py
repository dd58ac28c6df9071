"""Retrieval by method of reading further: accuracy against the depth of the asked record, a panel
per length.

The methods that were measured at most depths, each at its greatest factor; records: their number
grows with the length. Dotted: naming any value of the context.
"""

from extrap.figures.drawing.axes import QUIET, note
from extrap.figures.drawing.ends import label_ends, label_height, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.methods import line
from extrap.figures.drawing.style import method_style
from extrap.figures.drawing.titles import entitle
from extrap.results.extension_study.in_force import in_force_note
from extrap.results.extension_study.methods import compared, methods, order, target, title
from extrap.results.series import select

NEEDS = {"task": "kv", "metric": "accuracy", "protocol": "records", "seen": "retrieval"}
OF = " of several extensions"
MAKE = " extension=direct,pi,ntk"
MULTIPLES = (0.25, 0.5, 0.75, 1, 2, 4, 8)


def enough(rows) -> bool:
    return rows["extension"].nunique() > 1


def draw(rows):
    every = rows
    guess, rows = (
        select(rows, **NEEDS | {"metric": "guess"}),
        compared(select(methods(rows), **NEEDS)),
    )
    rows = rows[(rows["parent"] == min(rows["parent"])) & ~rows["log_n"]].dropna(subset="depth")
    depths = rows.groupby("method")["depth"].nunique()
    shown = order(depths.index[depths == depths.max()])
    multiples = [m for m in MULTIPLES if m in set(rows["multiple"])]
    room = label_room([title(m) for m in shown])
    size = (1.7, label_height(len(shown), 1.9))
    figure, axes = panels((1, len(multiples)), size, right=room, gap=0.18, top=0.55)
    for panel, multiple in zip(axes[0], multiples, strict=True):
        here = rows[rows["multiple"] == multiple]
        ends = [
            line(panel, here[here["method"] == m], "depth", method_style(m), title(m))
            for m in shown
        ]
        for value in guess.loc[guess["length"].isin(here["length"]), "value"].unique():
            panel.axhline(
                value, color=QUIET, linestyle=(0, (1, 4)), linewidth=0.9, label="guess", zorder=1.5
            )
        panel.set(
            xlim=(-0.04, 1.04),
            ylim=(-0.03, 1.05),
            xticks=(0, 0.5, 1),
            title=f"{multiple:g}x",
            xlabel="depth",
        )
        panel.tick_params(labelleft=panel is axes[0, 0])
    axes[0, 0].set_ylabel("retrieval accuracy")
    label_ends(axes[0, -1], ends)
    entitle(
        figure,
        "Retrieval by method of reading further",
        f"{note(rows)} · set for {target(rows):g}x where a factor exists · dotted: a guess"
        + in_force_note(every, rows["method"]),
    )
    return figure
