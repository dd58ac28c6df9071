"""Exact match against the length of the problem, a panel per task: does an algorithm outlive its
examples?

Up to twice the lengths of training, which are shaded as far as they were evaluated. Thin lines are
seeds, thick ones their means, all seeds among them: a label says how many are below the gate of a
task. Dotted: naming values at random. Conventions of arXiv 2305.19466 (figure 3).
"""

import math
from dataclasses import replace

from extrap.figures.drawing.axes import QUIET, note
from extrap.figures.drawing.ends import End, label_ends, label_height, label_room, thin_lines
from extrap.figures.drawing.layout import pairs
from extrap.figures.drawing.palette import BELOW_GATE
from extrap.figures.drawing.style import Style, style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import Series, judged, seeds, select, series

NEEDS = {"task": "algorithmic", "metric": "accuracy"}
MAKE = " data=algorithmic"
BEYOND = 2
"""Multiple of the trained lengths at which the axis ends."""


def draw(rows):
    chance = select(rows, **NEEDS | {"metric": "chance"})
    borders = trained(rows)
    rows = select(rows, **NEEDS)
    rows = rows.assign(mark=judged(rows), status="ok")
    protocols = sorted(rows["protocol"].unique())
    found = series(rows)  # of all panels, so that a line keeps its style in each
    labels = [s.label for s in found]
    size = (2.2, label_height(len(labels), 1.6))
    figure, axes = pairs(len(protocols), size, right=label_room(labels), gap=0.25, between=0.62)
    columns = min(2, len(protocols))
    for k, panel in enumerate(axes):
        here = rows[rows["protocol"] == protocols[k]]
        furthest = BEYOND * borders.get(protocols[k], here["at"].max())
        here = here[here["at"] <= furthest]
        if protocols[k] in borders:
            shade = {"color": "#eeeeee", "linewidth": 0, "zorder": 0, "label": "trained lengths"}
            panel.axvspan(0, borders[protocols[k]], **shade)
        guess = chance[chance["protocol"] == protocols[k]].drop_duplicates("at").sort_values("at")
        guess = guess[guess["at"] <= furthest]
        dots = {"color": QUIET, "linestyle": (0, (1, 1.6)), "linewidth": 0.9, "label": "chance"}
        panel.plot(guess["at"], guess["value"], **dots)
        parts = [replace(s, rows=s.rows[s.rows.index.isin(here.index)]) for s in found]
        ends = [_line(panel, s) for s in parts if len(s.rows)]
        if k == columns - 1:  # names of all panels stand beside this one
            named = {end.label for end in ends}
            away = [s for s in found if s.label not in named]
            ends += [End(s.label, _style(s), furthest, math.nan, True) for s in away]
        panel.set(title=protocols[k], xlim=(0, furthest * 1.03), ylim=(-0.03, 1.05))
        panel.set_xlabel("symbols" if k + columns >= len(protocols) else "")
        panel.set_ylabel("exact match" if k % columns == 0 else "")
        panel.tick_params(labelleft=k % columns == 0)
        if k == columns - 1:
            label_ends(panel, ends)
    marks = "to twice the trained lengths, which are shaded · thin: seeds, thick: their mean; "
    marks += "dotted: chance"
    lost = below(rows)
    entitle(
        figure, "Length generalisation", f"{note(rows)} · {marks}" + (f" · {lost}" if lost else "")
    )
    return figure


def below(rows) -> str:
    """`below the gate: copy 7, reverse 12 of 15 runs`: a mean holds seeds that did not learn."""
    lost = rows[rows["mark"] != "ok"].groupby("protocol")["run"].nunique()
    runs = rows.groupby("protocol")["run"].nunique()
    words = ", ".join(f"{protocol} {count} of {runs[protocol]}" for protocol, count in lost.items())
    return f"below the gate: {words} runs (hollow: all of a scheme)" if words else ""


def _line(panel, s: Series) -> End:
    style = _style(s)
    table = seeds(s.rows, "at")
    middle = table.mean(axis=1)
    thin_lines(panel, table, style)
    panel.plot(middle.index, middle, label=s.label, zorder=3, **style.stroke)
    return End(s.label, style, middle.index[-1], middle.iloc[-1])


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
