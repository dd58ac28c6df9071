"""The temperature of YaRN: loss against the slope of 1/sqrt(t) = slope ln s + 1, a line per length.

arXiv 2309.00071, section 3.3. The paper finds 0.1 for models of billions of weights; the least of
every line is marked.
"""

import numpy as np

from extrap.figures.drawing.axes import note
from extrap.figures.drawing.ends import label_ends, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import line
from extrap.figures.drawing.style import INKS, SOLID, Style
from extrap.figures.drawing.titles import entitle
from extrap.results.methods import methods, target
from extrap.results.series import select, spread

NEEDS = {"task": "nll", "metric": "nll", "protocol": "last_segment", "seen": "text"}
OF = " of extension=yarn with several slopes"
MAKE = " extension=yarn extension.slope=0,0.1,0.2"
PAPER = 0.1


def enough(rows) -> bool:
    return rows["extension"].str.startswith("yarn,slope=").any()


def draw(rows):
    rows = select(methods(rows), **NEEDS)
    rows = rows[
        (rows["method"] == "yarn") & rows["tuned"].isna() & (rows["set_for"] == target(rows))
    ]
    slope = rows["options"].str.extract(r"^slope=([\d.]+)$")[0].astype(float)
    rows = rows.assign(slope=slope)[slope.notna() | (rows["options"] == "")].fillna(
        {"slope": PAPER}
    )
    rows = rows[rows["parent"] == sorted(rows["parent"].unique())[0]]
    rows = rows[rows["seed"] == rows["seed"].min()]
    lengths = sorted(rows["length"].unique())
    names = [f"{n} tokens" for n in lengths]
    figure, ((panel,),) = panels((1, 1), (3.2, 2.5), right=label_room(names), gap=0, top=0.5)
    ends = []
    for i, (n, name) in enumerate(zip(lengths, names, strict=True)):
        part = rows[rows["length"] == n]
        style = Style(INKS[i % len(INKS)], SOLID, "os^Dv"[i % 5])
        ends.append(line(panel, part, "slope", style, name))
        curve = spread(part, "slope")["value"]
        panel.plot(
            [curve.idxmin()],
            [curve.min()],
            "*",
            color=style.colour,
            markersize=10,
            label="least",
            zorder=4,
        )
    panel.axvline(
        PAPER, color="#222222", linestyle=(0, (1, 1.6)), linewidth=0.8, label="paper", zorder=1
    )
    panel.set(
        xlabel=f"slope of ln s (s = {target(rows):g})", ylabel="nats per token, same last segment"
    )
    panel.set_xlim(np.min(rows["slope"]) - 0.01, np.max(rows["slope"]) + 0.01)
    label_ends(panel, ends)
    entitle(
        figure,
        "The temperature of YaRN",
        f"{note(rows)} · dotted: the slope of the paper; stars: least loss",
    )
    return figure
