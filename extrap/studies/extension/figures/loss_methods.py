"""Perplexity by length under each method of reading further: its cost within L, and its reach.

A column per family of methods, a line of panels per way of scoring, all set for the greatest
factor; beside a line stands its last value (arXiv 2309.00071, figure 1, and the plot that came with
NTK-aware scaling). Perplexity is cut off at ten times the least. What other factors do:
tuning_factors, best_factor.
"""

from dataclasses import replace
from itertools import chain

import numpy as np

from extrap.figures.drawing import (
    WIDTH,
    End,
    entitle,
    label_ends,
    label_height,
    label_room,
    length_axis,
    line,
    mark_training,
    note,
    panels,
    perplexity_axis,
)
from extrap.results.methods import compared, methods, target
from extrap.results.series import select
from extrap.studies.extension.families import FAMILIES, family, told_apart
from extrap.studies.extension.methods import in_force_note, order, title

NEEDS = {"task": "nll", "metric": "nll", "seen": "text"}
PROTOCOLS = {"last_segment": "same last segment", "nonoverlap": "non-overlapping windows"}
PLAIN = "direct"
OF, MAKE = " of several methods", " extension=direct,pi,ntk,yarn"
CUT = 10


def enough(rows) -> bool:
    return bool((_shown(rows)["method"] != PLAIN).any())


def _shown(rows):
    rows = select(methods(rows), **NEEDS)
    rows = rows[rows["parent"] == min(rows["parent"].unique(), default="")]
    return compared(rows[~rows["log_n"]])


def _families(found) -> dict[str, list[str]]:
    """Returns {family: its methods behind the plain reader} of families that have a method."""
    names: dict[str, list[str]] = {}
    for method in order(found):
        if method != PLAIN:
            names.setdefault(family(method), [PLAIN]).append(method)
    return {name: names[name] for name in FAMILIES if name in names}


def draw(rows):
    every = rows
    rows = _shown(rows)
    there = {*rows["protocol"].unique()}
    shown = [p for p in PROTOCOLS if p in there]
    rows = rows[rows["protocol"].isin(shown)]
    names = _families(rows["method"])
    kept = list(names)
    drawn = chain.from_iterable(names.values())
    labels = [f"{title(method)} 00.0 (3 seeds)" for method in drawn]
    room = label_room(labels)
    most = max(map(len, names.values()))
    size = (2.0, label_height(most, 2.1))
    margins = {"right": room, "gap": room + 0.1, "between": 0.75, "top": 0.86}
    figure, axes = panels((len(shown), len(kept)), size, **margins)
    trained = sorted(rows["train_length"].unique())
    floor = np.exp(rows["value"].min())
    counts = rows.groupby("method")["run"].nunique()
    top = floor * CUT
    for (i, j), panel in np.ndenumerate(axes):
        protocol = shown[i]
        here = rows[rows["protocol"] == protocol]
        ends = _ends(panel, here, names[kept[j]], counts)
        inside = [replace(end, y=min(end.y, top)) for end in ends]
        length_axis(panel, rows["length"], trained)
        perplexity_axis(panel)
        mark_training(panel, trained)
        panel.set_ylim(floor / 1.05, top)
        panel.set_title(kept[j], pad=16)
        panel.set_xlabel("evaluation length (tokens)" if i == len(shown) - 1 else "")
        panel.set_ylabel(f"perplexity, {PROTOCOLS[protocol]}" if j == 0 else "")
        label_ends(panel, inside)
    value = "" if WIDTH.get() else ", beside it its last value"
    below = (
        f"{note(rows)}, counted in labels · set for {target(rows):g}x where a factor "
        f"exists; without log-n · thin: seeds, thick: their mean{value} · "
        f"above {CUT * floor:.3g} is cut off{in_force_note(every, rows['method'])}"
    )
    parent = rows["parent"].iloc[0]
    entitle(figure, f"Perplexity by method of reading further, {parent}", below)
    return figure


def _ends(panel, rows, names: list[str], counts) -> list[End]:
    """Draws the methods of a family; a label says if its method has fewer seeds than others."""
    here = set(rows["method"])
    shown = [name for name in names if name in here]
    out = []
    for method, style in told_apart(shown).items():
        part = rows[rows["method"] == method]
        end = line(panel, part, "length", style, title(method), through=np.exp, band=0)
        seeds = int(counts[method])
        fewer = f" ({seeds} seed{'s' * (seeds > 1)})" if seeds < counts.max() else ""
        value = "" if WIDTH.get() else f" {end.y:.3g}"  # a legend is of all panels
        out.append(replace(end, label=f"{end.label}{value}{fewer}"))
    return out
