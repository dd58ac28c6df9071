"""Exact match against the length of the problem, a panel per task: does an algorithm outlive its
examples?

Up to twice the lengths of training, which are shaded as far as they were evaluated. Thin lines are
seeds, thick ones their means, all seeds among them: a label says how many are below the gate of a
task. Dotted: naming values at random. Conventions of arXiv 2305.19466 (figure 3).
"""

import math
from dataclasses import replace

from extrap.figures.drawing import (
    BELOW_GATE,
    DOTS,
    QUIET,
    SHARE,
    End,
    Style,
    entitle,
    label_ends,
    label_height,
    label_room,
    leftmost,
    line,
    lowest,
    note,
    style_of,
    wrapped,
)
from extrap.results.series import Series, judged, select, series

NEEDS = {"task": "algorithmic", "metric": "accuracy"}
MAKE = " data=algorithmic"
BEYOND = 2
"""Multiple of the trained lengths at which the axis ends."""


def draw(rows):
    chance = select(rows, **NEEDS | {"metric": "chance"}).drop_duplicates(["protocol", "at"])
    borders = trained(rows)
    rows = select(rows, **NEEDS)
    rows = rows.assign(mark=judged(rows), status="ok")
    ends = rows.groupby("protocol")["at"].transform("max")
    furthest = BEYOND * rows["protocol"].map(borders).fillna(ends)
    found = series(rows)  # of all lengths, so that a line keeps its style in each panel
    rows = rows[rows["at"] <= furthest]
    protocols = sorted(rows["protocol"].unique())
    labels = [s.label for s in found]
    size = (2.2, label_height(len(labels), 1.6))
    margins = {"right": label_room(labels), "gap": 0.25, "between": 0.62}
    figure, axes = wrapped(len(protocols), 2, size, **margins)
    for panel, protocol in zip(axes, protocols, strict=True):
        here = rows[rows["protocol"] == protocol]
        last = furthest[here.index].iloc[0]
        if protocol in borders:
            shade = {"color": "#eeeeee", "linewidth": 0, "zorder": 0, "label": "trained lengths"}
            panel.axvspan(0, borders[protocol], **shade)
        guess = chance[(chance["protocol"] == protocol) & (chance["at"] <= last)].sort_values("at")
        dots = {"color": QUIET, "linestyle": DOTS, "linewidth": 0.9, "label": "chance"}
        panel.plot(guess["at"], guess["value"], **dots)
        parts = [replace(s, rows=s.rows[s.rows.index.isin(here.index)]) for s in found]
        ends = [
            line(panel, part.rows, "at", _style(part), s.label, band=0)
            if len(part.rows)
            else End(s.label, _style(s), last, math.nan, elsewhere=True)
            for s, part in zip(found, parts, strict=True)
        ]
        panel.set(title=protocol, xlim=(0, last * 1.03), ylim=SHARE)
        panel.set_xlabel("symbols" if lowest(panel) else "")
        panel.set_ylabel("exact match" if leftmost(panel) else "")
        panel.tick_params(labelleft=leftmost(panel))
        if panel is axes[min(2, len(axes)) - 1]:  # names of all panels stand beside this one
            label_ends(panel, ends)
    words = f"{note(rows)} · to twice the trained lengths, which are shaded · thin: seeds, thick: "
    words += "their mean; dotted: chance" + "".join(f" · {lost}" for lost in below(rows))
    entitle(figure, "Length generalisation", words)
    return figure


def below(rows) -> list[str]:
    """[`below the gate: copy 7, reverse 12 of 15 runs`]: a mean holds seeds that did not learn."""
    lost = rows[rows["mark"] != "ok"].groupby("protocol")["run"].nunique()
    runs = rows.groupby("protocol")["run"].nunique()
    words = ", ".join(f"{protocol} {count} of {runs[protocol]}" for protocol, count in lost.items())
    return [f"below the gate: {words} runs (hollow: all of a scheme)"] if words else []


def _style(s: Series) -> Style:
    """Grey and hollow where every seed is below the gate."""
    style = style_of(s)
    if (s.rows["mark"] != "ok").all():
        return Style(BELOW_GATE, style.line, style.marker, filled=False)
    return style


def trained(rows) -> dict[str, float]:
    """{protocol: the longest evaluated problem that training held}. The gate is the mean over these
    lengths, so its n counts them.
    """
    gates, cells, out = select(rows, **NEEDS | {"metric": "gate"}), select(rows, **NEEDS), {}
    for protocol, gate in gates.groupby("protocol"):
        here = cells[cells["protocol"] == protocol]
        inside = round(gate["n"].max() / here["n"].max())
        out[str(protocol)] = float(sorted(here["at"].unique())[inside - 1])
    return out
