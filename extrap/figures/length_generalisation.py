"""Exact match against the length of the problem, a panel per task: does an algorithm outlive its
examples?

Up to twice the lengths of training, which are shaded as far as they were evaluated. Thin lines are
seeds, thick ones their means, all seeds among them: a label says how many are below the gate of a
task. Dotted: naming values at random. Conventions of arXiv 2305.19466 (figure 3).
"""

import math

from extrap.figures.drawing import (
    BELOW_GATE,
    DOTS,
    QUIET,
    SHARE,
    End,
    Style,
    entitle,
    label_ends,
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
    margins = {"labels": [s.label for s in found], "gap": 0.25, "between": 0.62}
    figure, axes = wrapped(len(protocols), 2, (2.2, 1.6), **margins)
    for panel, protocol in zip(axes, protocols, strict=True):
        last = furthest[rows.index[rows["protocol"] == protocol]].iloc[0]
        if protocol in borders:
            shade = {"color": "#eeeeee", "linewidth": 0, "zorder": 0, "label": "trained lengths"}
            panel.axvspan(0, borders[protocol], **shade)
        guess = chance[(chance["protocol"] == protocol) & (chance["at"] <= last)].sort_values("at")
        dots = {"color": QUIET, "linestyle": DOTS, "linewidth": 0.9, "label": "chance"}
        panel.plot(guess["at"], guess["value"], **dots)
        ends = [_end(panel, s, protocol, last) for s in found]
        panel.set(title=protocol, xlim=(0, last * 1.03), ylim=SHARE)
        panel.set_xlabel("symbols" if lowest(panel) else "")
        panel.set_ylabel("exact match" if leftmost(panel) else "")
        panel.tick_params(labelleft=leftmost(panel))
        if panel is axes[min(2, len(axes)) - 1]:  # names of all panels stand beside this one
            label_ends(panel, ends)
    words = f"{note(rows)} · to twice the trained lengths, which are shaded · thin: seeds, thick: "
    words += "their mean; dotted: chance" + below(rows)
    entitle(figure, "Length generalisation", words)
    return figure


def _end(panel, s: Series, protocol: str, last: float) -> End:
    """Draws a series in one panel, grey and hollow where every seed is below the gate."""
    shown = (s.rows["protocol"] == protocol) & (s.rows["at"] <= last)
    rows = s.rows[shown]
    style = style_of(s)
    if rows.empty:
        return End(s.label, style, last, math.nan, elsewhere=True)
    if (rows["mark"] != "ok").all():
        style = Style(BELOW_GATE, style.line, style.marker, filled=False)
    return line(panel, rows, "at", style, s.label, band=0)


def below(rows) -> str:
    """Returns ` · below the gate: copy 7, reverse 12 of 15 runs`: a mean holds seeds that did not
    learn.
    """
    lost = rows[rows["mark"] != "ok"].groupby("protocol")["run"].nunique()
    runs = rows.groupby("protocol")["run"].nunique()
    words = ", ".join(f"{protocol} {count} of {runs[protocol]}" for protocol, count in lost.items())
    return f" · below the gate: {words} runs (hollow: all of a scheme)" if words else ""


def trained(rows) -> dict[str, float]:
    """Returns {protocol: the longest evaluated problem that training held}. The gate is the mean
    over these lengths, so its n counts them.
    """
    gates = select(rows, **NEEDS | {"metric": "gate"})
    cells = select(rows, **NEEDS)
    out = {}
    for protocol, gate in gates.groupby("protocol"):
        here = cells[cells["protocol"] == protocol]
        inside = round(gate["n"].max() / here["n"].max())
        out[str(protocol)] = float(sorted(here["at"].unique())[inside - 1])
    return out
