"""Accuracy against depth, a panel per protocol and length: what figures of retrieval share."""

import math
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from extrap.figures.drawing.axes import DOTS, SHARE, level, span, spread_note
from extrap.figures.drawing.dimensions import LENGTHS, NARROW, PAGE, WIDTH
from extrap.figures.drawing.ends import End, label_ends, label_height, label_room
from extrap.figures.drawing.layout import leftmost, lowest, panels
from extrap.figures.drawing.length_panels import with_ends
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import Series, select, series

MULTIPLES = (0.25, 0.5, 0.75, 1, 2, 4, 8)
GUESSES = {"chance": DOTS, "guess": (0, (1, 4))}
MARKS = "dotted: chance; wide dots: any value of the context"
QUARTERS = {0: "0", 0.25: ".25", 0.5: ".5", 0.75: ".75", 1: "1"}


def quarters(panel, named: bool) -> None:
    """The axis of depths."""
    panel.set(xlim=(-0.04, 1.04), xticks=list(QUARTERS))
    panel.set_xticklabels(QUARTERS.values() if named else [])
    words = "depth (0 = start)" if (WIDTH.get() or PAGE) < NARROW else "depth (0 = start, 1 = end)"
    panel.set_xlabel(words if named else "")


def depth_figure(
    rows,
    needs: dict,
    protocols: dict[str, str],
    title: str,
    marks: str = MARKS,
    lines: Callable | None = None,
    items: str = "",
    counted: bool = False,
    across: Callable = quarters,
):
    """A figure of the rows that a module NEEDS: a line of panels per protocol (its words in
    `protocols`), one panel per length.

    Args:
        lines(panel, s): draws what a series has besides its curve, in the panels of its curves.
        items: what the axis `at` counts, named in the titles.
        counted: one panel per number of items instead, the four that hold most, where lengths
            follow from items.
        across(panel, named): sets the x axis; named: in the last line of panels.
    """
    guesses = {metric: select(rows, **needs | {"metric": metric}) for metric in GUESSES}
    every = select(rows, **needs)
    rows = every[every["depth"].notna() & every["protocol"].isin(protocols)]
    rows = rows.assign(panel=rows["at" if counted else "multiple"])
    there = {*rows["protocol"].unique()}
    shown = [p for p in protocols if p in there]
    known = sorted(rows["panel"].unique())
    columns = known[-4:] if counted else _lengths(known)
    # a series may be split by the gate of one protocol alone
    parts = {p: series(rows[rows["protocol"] == p]) for p in shown}
    narrow = (WIDTH.get() or PAGE) < NARROW  # no room for words beside a row, which goes on
    figure, axes = _grid((len(shown), len(columns)), [series(rows), *parts.values()], narrow)
    broken = len({panel.get_position().y0 for panel in axes.flat}) > len(shown)
    for (i, j), panel in np.ndenumerate(axes):
        protocol, column = shown[i], columns[j]
        here = rows[rows["panel"] == column]
        words = protocols[protocol]
        _guesses(panel, here["length"], guesses, protocol)
        if lines is not None:
            runs = {run for s in parts[protocol] for run in s.rows["run"].unique()}
            for s in series(every):
                if not runs.isdisjoint(s.rows["run"].unique()):
                    lines(panel, s)
        ends = [_curve(panel, s, column) for s in parts[protocol]]
        _shares(panel, "accuracy" if narrow else f"{words}\n\naccuracy")
        across(panel, lowest(panel) if narrow else i == len(shown) - 1)
        if narrow:
            of = f"{_short(words)} " if len(protocols) > 1 else ""
            panel.set_title(f"{of}{column:g} {items if counted else 'L'}")
        elif i == 0 or broken:
            panel.set_title(_title(column, here, items, counted))
        if j == len(columns) - 1:
            label_ends(panel, ends)
    trials = span(rows["n"].dropna()) or "all"
    bars = f"bars: 95 % Wilson over {trials} trials"
    entitle(figure, title, f"{spread_note(rows, bars)} · {marks}")
    return figure


def _lengths(known: list[float]) -> list[float]:
    """Returns the multiples of L that have panels: MULTIPLES and further powers of two, or all
    where a reader asked for some or the rows have no others.
    """
    if LENGTHS.get():
        return known
    powers = [m for m in known if m in MULTIPLES or (m > 8 and math.log2(m).is_integer())]
    return powers or known


def _grid(grid: tuple[int, int], groups: list[list[Series]], narrow: bool):
    """Returns a figure and its axes with room for the names of all series."""
    room = label_room({*chain.from_iterable(map(with_ends, groups))})
    size = (1.95, label_height(max(map(len, groups)), 1.7))
    form: dict[str, Any] = {"left": 0.5, "flow": True} if narrow else {"left": 0.95}
    return panels(grid, size, right=room, gap=0.18, between=0.32, **form)


def _shares(panel, words: str) -> None:
    """The axis of accuracies, with its numbers and words where no panel stands further left."""
    named = leftmost(panel)
    panel.set(ylim=SHARE, yticks=list(QUARTERS))
    panel.set_yticklabels(QUARTERS.values() if named else [])
    panel.set_ylabel(words if named else "")


def _short(words: str) -> str:
    return " ".join(words.partition(":")[0].split())


def _curve(panel, s, column) -> End:
    rows = s.rows[s.rows["panel"] == column]
    if rows.empty:
        return End(s.label, style_of(s), s.rows["length"].max(), math.nan)
    return curve(panel, s, rows, "depth", bars=True, within=(0, 1))


def _title(column, here, items: str, counted: bool) -> str:
    """Returns `8 items (256 tokens)` if counted, else `2x (256 tokens, items = 8)`."""
    if counted:
        return f"{column:g} {items} ({span(here['length'])} tokens)"
    lengths = here["length"].unique()
    counts = here["at"].dropna().unique()
    inside = [f"{lengths[0]} tokens"] if len(lengths) == 1 else []
    inside += [f"{items} = {counts[0]:g}"] if items and len(counts) == 1 else []
    name = "training length" if column == 1 else f"{column:g}x"
    return name + (f" ({', '.join(inside)})" if inside else "")


def _guesses(panel, lengths, guesses, protocol: str) -> None:
    """What can be had without finding the record: lines at accuracies that hold at every length and
    protocol or at this one.
    """
    for metric, line in GUESSES.items():
        found = guesses[metric]
        here = found["length"].isna() | found["length"].isin(lengths)
        here &= found["protocol"].isin(("", protocol))
        for value in sorted(found.loc[here, "value"].unique()):
            level(panel, value, metric, line)
