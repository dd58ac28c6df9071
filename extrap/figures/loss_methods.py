"""Perplexity against length by method: what each costs within the training length, and how far it
carries.

A panel per way of scoring at the greatest factor, and one with all factors of the methods that were
read with several (arXiv
2309.00071, figure 1, and the plot that came with NTK-aware scaling). Perplexity is cut off at ten
times the least.
"""

from dataclasses import replace

import numpy as np

from extrap.figures.drawing.axes import length_axis, mark_training, note, perplexity_axis
from extrap.figures.drawing.layout import End, entitle, label_ends, label_height, label_room, panels
from extrap.figures.drawing.methods import line
from extrap.figures.drawing.style import Style, method_style
from extrap.results.extension_study.methods import compared, methods, order, target, title
from extrap.results.series import select

NEEDS = {"task": "nll", "metric": "nll", "seen": "text"}
PROTOCOLS = {"nonoverlap": "non-overlapping windows", "last_segment": "same last segment"}
FAMILY = ("direct", "pi", "ntk", "yarn")
OF, MAKE = " of several methods", " extension=direct,pi,ntk,yarn"
LINES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1.2, 1, 1.2)))


def enough(rows) -> bool:
    return bool((rows["extension"] != "direct").any())


def draw(rows):
    rows = select(methods(rows), **NEEDS)
    rows = rows[
        (rows["parent"] == sorted(rows["parent"].unique())[0])
        & rows["tuned"].isna()
        & ~rows["log_n"]
    ]
    beside = compared(rows)
    shown = [p for p in PROTOCOLS if p in set(rows["protocol"])]
    names = [title(m) for m in order(beside["method"])] + [
        _factored(m, target(rows)) for m in FAMILY
    ]
    room = label_room(names)
    height = label_height(len(order(beside["method"])), 2.6)
    figure, axes = panels((1, len(shown) + 1), (2.3, height), right=room, gap=room + 0.15, top=0.86)
    ends = [
        _methods(panel, beside[beside["protocol"] == p])
        for panel, p in zip(axes[0], shown, strict=False)
    ]
    ends.append(_factors(axes[0, -1], rows[rows["protocol"] == shown[-1]]))
    floor = np.exp(rows.loc[rows["protocol"].isin(shown), "value"].min())
    for panel, named, name in zip(
        axes[0], ends, [*(PROTOCOLS[p] for p in shown), "the same, by factor"], strict=True
    ):
        length_axis(panel, rows["length"], sorted(rows["train_length"].unique()))
        perplexity_axis(panel)
        mark_training(panel, sorted(rows["train_length"].unique()))
        panel.set_title(name, pad=16)
        panel.set_ylim(floor / 1.05, floor * 10)
        label_ends(panel, [replace(end, y=min(end.y, floor * 10)) for end in named])
    axes[0, 0].set_ylabel("perplexity per token")
    said = (
        f"{note(rows)} · set for {target(rows):g}x where a factor exists; without log-n · above "
        f"{10 * floor:.3g} is cut off"
    )
    entitle(figure, "Perplexity by method of reading further", said)
    return figure


def _factored(method: str, factor: float) -> str:
    return title(method) + (f" x{factor:g}" if factor != 1 else "")


def _methods(panel, rows) -> list[End]:
    found = [(m, rows[rows["method"] == m]) for m in order(rows["method"])]
    return [line(panel, part, "length", method_style(m), title(m), np.exp) for m, part in found]


def _factors(panel, rows) -> list[End]:
    """The greatest factor of a method is solid."""
    rows, ends = rows[(rows["options"] == "") & rows["method"].isin(FAMILY)], []
    for (method, factor), part in rows.groupby(["method", "set_for"], sort=True):
        before = (rows.loc[rows["method"] == method, "set_for"].unique() > factor).sum()
        plain = method_style(method)
        style = Style(plain.colour, LINES[before % len(LINES)], plain.marker)
        ends.append(
            line(panel, part, "length", style, _factored(method, factor), np.exp, band=False)
        )
    return ends
