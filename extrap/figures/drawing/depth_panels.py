"""Accuracy against depth, a panel per protocol and length: what figures of retrieval share."""

import math

import numpy as np

from extrap.figures.drawing.axes import QUIET, spread_note
from extrap.figures.drawing.ends import End, label_ends, label_height, label_room
from extrap.figures.drawing.layout import leftmost, panels, titled
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series

MULTIPLES = (0.25, 0.5, 0.75, 1, 2, 4, 8)
GUESSES = {"chance": (0, (1, 1.6)), "guess": (0, (1, 4))}
MARKS = "dotted: chance; wide dots: any value of the context"
QUARTERS = {0: "0", 0.25: ".25", 0.5: ".5", 0.75: ".75", 1: "1"}


def depth_figure(
    rows,
    needs: dict,
    protocols: dict[str, str],
    title: str,
    marks: str = MARKS,
    lines=None,
    items: str = "",
    counted: bool = False,
):
    """A figure of the rows that a module NEEDS: a line of panels per protocol (its words in
    `protocols`), one panel per length.

    lines(panel, s) draws what a series has besides its curve; items: what the axis `at` counts,
    named in the titles. counted: one panel per number of items instead, the four that hold most,
    where lengths follow from items.
    """
    guesses = {metric: select(rows, **needs | {"metric": metric}) for metric in GUESSES}
    every = select(rows, **needs)
    rows = every[every["depth"].notna() & every["protocol"].isin(protocols)]
    rows = rows.assign(
        panel=rows["at"] if counted else (rows["length"] / rows["train_length"]).astype(float)
    )
    shown = [p for p in protocols if p in set(rows["protocol"])]
    columns = (
        sorted(rows["panel"].unique())[-4:]
        if counted
        else [m for m in MULTIPLES if m in set(rows["panel"])]
    )
    # a series may be split by the gate of one protocol alone
    parts = [series(rows), *(series(rows[rows["protocol"] == p]) for p in shown)]
    room = label_room({f"{s.label} (to 64)" for part in parts for s in part})
    height = label_height(max(map(len, parts)), 1.7)
    figure, axes = panels(
        (len(shown), len(columns)), (1.95, height), right=room, gap=0.18, between=0.32, left=0.95
    )
    for i, j in np.ndindex(axes.shape):
        panel, protocol, m = axes[i, j], shown[i], columns[j]
        _guesses(panel, rows, guesses, protocol, m)
        for s in series(every) if lines else []:
            lines(panel, s)
        ends = [_curve(panel, s, m) for s in series(rows[rows["protocol"] == protocol])]
        panel.set(
            xlim=(-0.04, 1.04), ylim=(-0.03, 1.05), xticks=list(QUARTERS), yticks=list(QUARTERS)
        )
        panel.set_xticklabels(QUARTERS.values() if i == len(shown) - 1 else [])
        panel.set_yticklabels(QUARTERS.values() if leftmost(panel) else [])
        panel.set_ylabel(f"{protocols[protocol]}\n\naccuracy" if leftmost(panel) else "")
        panel.set_xlabel("depth (0 = start, 1 = end)" if i == len(shown) - 1 else "")
        if titled(panel):
            panel.set_title((_counted if counted else _multiple)(m, rows, items))
        if j == len(columns) - 1:
            label_ends(panel, ends)
    bars = f"bars: 95 % Wilson over {_trials(rows)} trials"
    entitle(figure, title, f"{spread_note(rows, bars)} · {marks}")
    return figure


def _curve(panel, s, multiple) -> End:
    rows = s.rows[s.rows["panel"] == multiple]
    if rows.empty:
        return End(s.label, style_of(s), s.rows["length"].max(), math.nan)
    return curve(panel, s, rows, "depth", bars=True, within=(0, 1))


def _multiple(m, rows, items: str) -> str:
    here = rows[rows["panel"] == m]
    lengths, counts = here["length"].unique(), here["at"].dropna().unique()
    tokens = f"{lengths[0]} tokens" if len(lengths) == 1 else ""
    counted = f"{items} = {counts[0]:g}" if items and len(counts) == 1 else ""
    inside = ", ".join(filter(None, (tokens, counted)))
    return ("training length" if m == 1 else f"{m:g}x") + (f" ({inside})" if inside else "")


def _counted(number, rows, items: str) -> str:
    lengths = rows.loc[rows["panel"] == number, "length"]
    tokens = " to ".join(f"{length:g}" for length in sorted({lengths.min(), lengths.max()}))
    return f"{number:g} {items} ({tokens} tokens)"


def _guesses(panel, rows, guesses, protocol, multiple) -> None:
    """What can be had without finding the record: lines at accuracies that hold at every length and
    protocol or at this one.
    """
    lengths = rows.loc[rows["panel"] == multiple, "length"]
    for metric, line in GUESSES.items():
        found = guesses[metric]
        found = found[
            found["protocol"].isin(("", protocol))
            & (found["length"].isna() | found["length"].isin(lengths))
        ]
        for value in sorted(found["value"].unique()):
            panel.axhline(
                value, color=QUIET, linestyle=line, linewidth=0.9, label=metric, zorder=1.5
            )


def _trials(rows) -> str:
    counts = sorted(rows["n"].dropna().unique())
    return " to ".join(str(n) for n in dict.fromkeys((counts[0], counts[-1]))) if counts else "all"
