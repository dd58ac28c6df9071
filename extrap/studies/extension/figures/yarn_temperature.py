"""The temperature of YaRN: loss against the slope of 1/sqrt(t) = slope ln s + 1, a line per length.

Means of the seeds that have every slope. arXiv 2309.00071, section 3.3: the paper finds 0.1 for
models of billions of weights; the least of every line is marked.
"""

from itertools import cycle

import numpy as np

from extrap.figures.drawing import (
    INKS,
    SOLID,
    Style,
    bound,
    entitle,
    label_ends,
    line,
    note,
    panels,
)
from extrap.results.methods import methods, target
from extrap.results.series import behind, select

NEEDS = {"task": "nll", "metric": "nll", "protocol": "last_segment", "seen": "text"}
OF = " of extension=yarn with several slopes"
MAKE = " extension=yarn extension.slope=0,0.1,0.2"
PAPER = 0.1


def enough(rows) -> bool:
    return behind(rows["extension"]).str.startswith("yarn,slope=").any()


def draw(rows):
    rows = select(methods(rows), **NEEDS, method="yarn")
    rows = rows[rows["tuned"].isna() & (rows["set_for"] == target(rows))]
    options = rows["options"]
    given = options.str.extract(r"^slope=([\d.]+)$")[0].astype(float)
    slope = given.mask(options == "", PAPER)
    rows = rows.assign(slope=slope).dropna(subset="slope")
    rows = rows[rows["parent"] == min(rows["parent"])]
    slopes = rows.groupby("seed")["slope"].nunique()
    whole = slopes.index[slopes == slopes.max()]
    rows = rows[rows["seed"].isin(whole)]
    names = {n: f"{n} tokens" for n in sorted(rows["length"].unique())}
    labels = [*names.values()]
    figure, ((panel,),) = panels((1, 1), (3.2, 2.5), labels=labels, top=0.5)
    ends = []
    lines = zip(names.items(), cycle(INKS), cycle("os^Dv"), strict=False)
    for (n, name), ink, marker in lines:
        part = rows[rows["length"] == n]
        style = Style(ink, SOLID, marker)
        ends.append(line(panel, part, "slope", style, name))
        curve = part.groupby("slope")["value"].mean()
        star = {"color": style.colour, "markersize": 10, "label": "least", "zorder": 4}
        panel.plot([curve.idxmin()], [curve.min()], "*", **star)
    bound(panel.axvline, PAPER, "paper")
    panel.set(ylabel="nats per token, same last segment")
    panel.set_xlabel(f"slope of ln s (s = {target(rows):g})")
    least = np.min(rows["slope"])
    most = np.max(rows["slope"])
    panel.set_xlim(least - 0.01, most + 0.01)
    label_ends(panel, ends)
    below = f"{note(rows)} · dotted: the slope of the paper; stars: least loss"
    entitle(figure, f"The temperature of YaRN, {rows['parent'].iloc[0]}", below)
    return figure
