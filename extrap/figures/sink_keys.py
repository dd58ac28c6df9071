"""Attention to the first token by layer, untrained and trained: is there a sink, and was it inborn?

Mean over heads and the queries from 8 on, at the training length, and over seeds; a panel for each
training data. Dotted: the same models untrained. Dashed: uniform causal attention, which gives the
first token much by itself. Conventions of arXiv 2309.17453 and 2410.10781.
"""

from dataclasses import replace
from typing import Any

from matplotlib.ticker import MaxNLocator

from extrap.figures.drawing import DOTS, QUIET, End, entitle, label_ends, note, panels
from extrap.figures.drawing.diagnostics import beside_columns, lines, of_state
from extrap.figures.drawing.ends import all_ends
from extrap.results.series import select, where_known

NEEDS = {"task": "diagnostics", "metric": "mass"}


def draw(rows):
    uniform = select(rows, **NEEDS | {"metric": "mass_uniform"})
    rows = select(rows, **NEEDS)
    uniform = where_known(uniform[uniform["at"] == 0])
    rows = where_known(rows[rows["at"] == 0])
    trained = of_state(rows, "trained")
    untrained = of_state(rows, "untrained")
    one = trained["seed"].nunique() == 1
    data = sorted(trained["data"].unique())
    height, room = beside_columns(rows, 2.2)
    figure, axes = panels((1, len(data)), (2.4, height), right=room, gap=0.25)
    ends: list[list[End]] = []
    for panel, name in zip(axes[0], data, strict=True):
        before, after, even = (part[part["data"] == name] for part in (untrained, trained, uniform))
        dotted: dict[str, Any] = {
            "linestyle": DOTS,
            "marker": "",
            "thin": False,
            "band": 0,
            "zorder": 2,
        }
        lines(panel, before, "layer", **dotted)
        ends.append(lines(panel, after, "layer", thin=False, band=0.12 if one else 0))
        dashes = {"color": QUIET, "linestyle": (0, (4, 2)), "linewidth": 0.9}
        panel.axhline(even["value"].mean(), label="uniform", **dashes)
        panel.set(title=f"trained: {name}", xlabel="layer", ylim=(0, None))
        panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        panel.tick_params(labelleft=panel is axes[0, 0])
    top = max(panel.get_ylim()[1] for panel in axes[0])
    for panel in axes[0]:
        panel.set_ylim(0, top)
    label_ends(axes[0, -1], [replace(end, elsewhere=True) for end in all_ends(ends)])
    axes[0, 0].set_ylabel("attention to token 0")
    words = f"{note(rows)} · {'band: 95 % over inputs' if one else 'means over seeds'}"
    words += " · dotted: untrained; dashed: equal attention to all keys seen"
    entitle(figure, "Attention to the first token", words)
    return figure
