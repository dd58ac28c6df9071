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

from extrap.figures.drawing import INKS, bound, entitle, label_room, note, panels
from extrap.results.methods import compared, methods, target
from extrap.results.series import select
from extrap.studies.extension.methods import in_force_note, order, title, value

NEEDS = {"task": "repeat", "metric": "accuracy"}
OF, MAKE = " of several methods", " data=repeat extension=direct,pi,ntk,yarn"


def enough(rows) -> bool:
    return bool((rows["extension"] != "direct").any())


def draw(rows):
    every = rows
    gains = select(rows, task="repeat", metric="gain", extension="direct")
    rows = compared(select(methods(rows), **NEEDS))
    far = max(rows["multiple"])
    columns = {
        f"running text, 1x (L = {int(rows['train_length'].min())})": ("nonrepeated", 1.0),
        f"later copies, {far:g}x": ("later", far),
        f"running text, {far:g}x": ("nonrepeated", far),
    }
    shown = order(rows["method"])[::-1]
    count = len(shown)
    names = [title(m) for m in shown]
    parents = sorted(rows["parent"].unique())
    plain = select(rows, method="direct", parent=parents[0], protocol="nonrepeated")
    plain = plain[~plain["log_n"] & (plain["multiple"] == 1)]
    within = value(plain)
    left = label_room(names) - 0.2
    size = (1.75, 0.6 + 0.2 * count)
    figure, axes = panels((1, 3), size, right=0.2, gap=0.2, left=left, top=0.9)
    for panel, (name, (protocol, multiple)) in zip(axes[0], columns.items(), strict=True):
        here = rows[(rows["protocol"] == protocol) & (rows["multiple"] == multiple)]
        _column(panel, here, shown, parents)
        if within:
            bound(panel.axvline, within[0], "plain within L")
        panel.set_title(name)
        panel.set(ylim=(-0.6, count - 0.4), yticks=range(count), xlabel="token accuracy")
        panel.set_yticklabels(names if panel is axes[0, 0] else [])
        panel.xaxis.set_major_formatter(PercentFormatter(1, 0))
    handles, _ = axes[0, 0].get_legend_handles_labels()
    handles = [handle for handle in handles if handle.get_label() != "plain within L"]
    at = {"loc": "upper right", "ncols": len(handles), "frameon": False, "fontsize": 7}
    figure.legend(handles=handles, **at)
    by_data = []
    for (scheme, data), part in gains.groupby(["scheme", "data"]):
        mean = part["value"].mean()
        by_data.append(f"{scheme} ({data}): {mean:+.3f}")
    gained = "; ".join(by_data)
    below = (
        f"{note(rows)} · dotted: plain, running text within L · set for {target(rows):g}x where a "
        f"method has a factor · gain within L: {gained}{in_force_note(every, rows['method'])}"
    )
    entitle(figure, "Repeated and non-repeated text", below)
    return figure


def _column(panel, rows, shown, parents) -> None:
    for (parent, log_n), part in rows.groupby(["parent", "log_n"], sort=True):
        index = parents.index(parent)
        ink = INKS[index % len(INKS)]
        shift = 0.22 * (bool(log_n) - 0.6 * index)
        places = []
        found = []
        for i, method in enumerate(shown):
            got = value(part[part["method"] == method])
            if got:
                places.append(i + shift)
                found.append(got)
        middle, low, high = np.transpose(found)
        panel.hlines(places, low, high, color=ink, linewidth=0.8, alpha=0.7)
        face = "white" if log_n else ink
        dot = {"color": ink, "markerfacecolor": face, "markersize": 4}
        label = f"{parent}, log-n at test" if log_n else parent
        panel.plot(middle, places, "o", label=label, zorder=3, markeredgewidth=0.9, **dot)
