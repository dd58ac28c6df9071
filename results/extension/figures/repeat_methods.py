"""Accuracy on repeated and non-repeated text by method: what reading further gains and what it
costs.

Conventions of https://kexue.fm/archives/9708. A dot per method and training, with 95 % intervals;
hollow: log-n at test alone, clipped. Left: running text within the training length; middle: second
and later copies of a text of one training length; right: texts that are naturally that long.
Dotted: the plain reader of the first training within the training length. Copies mean something
only where `gain`, what that reader adds on the second copy of a text within the training length,
lies above 0.
"""

import numpy as np
from matplotlib.ticker import PercentFormatter

from extrap.figures.drawing.axes import note
from extrap.figures.drawing.ends import label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.style import INKS
from extrap.figures.drawing.titles import entitle
from extrap.results.in_force import in_force_note
from extrap.results.methods import compared, methods, order, target, title, value
from extrap.results.series import select

NEEDS = {"task": "repeat", "metric": "accuracy"}
OF, MAKE = " of several methods", " data=repeat extension=direct,pi,ntk,yarn"


def enough(rows) -> bool:
    return bool((rows["extension"] != "direct").any())


def draw(rows):
    every = rows
    gains, rows = (
        select(rows, task="repeat", metric="gain", extension="direct"),
        compared(select(methods(rows), **NEEDS)),
    )
    far = max(rows["multiple"])
    columns = {
        f"running text, 1x (L = {int(rows['train_length'].min())})": ("nonrepeated", 1.0),
        f"later copies, {far:g}x": ("later", far),
        f"running text, {far:g}x": ("nonrepeated", far),
    }
    shown, parents = order(rows["method"])[::-1], sorted(rows["parent"].unique())
    left = label_room([title(m) for m in shown]) - 0.2
    figure, axes = panels(
        (1, 3), (1.75, 0.6 + 0.2 * len(shown)), right=0.2, gap=0.2, left=left, top=0.9
    )
    for panel, (name, (protocol, multiple)) in zip(axes[0], columns.items(), strict=True):
        here = rows[(rows["protocol"] == protocol) & (rows["multiple"] == multiple)]
        _column(panel, here, shown, parents)
        if plain := value(_plain(rows, parents[0], "nonrepeated", 1.0)):
            panel.axvline(
                plain[0],
                color="#222222",
                linestyle=(0, (1, 1.6)),
                linewidth=0.8,
                label="plain within L",
                zorder=1,
            )
        panel.set_title(name)
        panel.set(ylim=(-0.6, len(shown) - 0.4), yticks=range(len(shown)), xlabel="token accuracy")
        panel.set_yticklabels([title(m) for m in shown] if panel is axes[0, 0] else [])
        panel.xaxis.set_major_formatter(PercentFormatter(1, 0))
    handles, labels = axes[0, 0].get_legend_handles_labels()
    named = {
        label: handle
        for handle, label in zip(handles, labels, strict=True)
        if label != "plain within L"
    }
    figure.legend(
        named.values(), named.keys(), loc="upper right", ncols=len(named), frameon=False, fontsize=7
    )
    gained = "; ".join(
        f"{scheme} ({data}): {part['value'].mean():+.3f}"
        for (scheme, data), part in gains.groupby(["scheme", "data"])
    )
    below = (
        f"{note(rows)} · dotted: plain, running text within L · set for {target(rows):g}x where a "
        f"method has a factor · gain within L: "
        f"{gained}{in_force_note(every, rows['method'])}"
    )
    entitle(figure, "Repeated and non-repeated text", below)
    return figure


def _plain(rows, parent, protocol, multiple):
    keep = (rows["method"] == "direct") & ~rows["log_n"] & (rows["parent"] == parent)
    return rows[keep & (rows["protocol"] == protocol) & (rows["multiple"] == multiple)]


def _column(panel, rows, shown, parents) -> None:
    for (parent, log_n), part in rows.groupby(["parent", "log_n"], sort=True):
        ink, places, found = INKS[parents.index(parent) % len(INKS)], [], []
        shift = 0.22 * (bool(log_n) - 0.6 * parents.index(parent))
        for i, method in enumerate(shown):
            if got := value(part[part["method"] == method]):
                places.append(i + shift)
                found.append(got)
        middle, low, high = np.transpose(found)
        label = f"{parent}, log-n at test" if log_n else parent
        face = "white" if log_n else ink
        panel.hlines(places, low, high, color=ink, linewidth=0.8, alpha=0.7)
        panel.plot(
            middle,
            places,
            "o",
            color=ink,
            markerfacecolor=face,
            markersize=4,
            markeredgewidth=0.9,
            label=label,
            zorder=3,
        )
