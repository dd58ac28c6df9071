"""What schemes find and model at 4 L under each recipe, and under their own.

A line a scheme, a dot a recipe, the mean over seeds; hollow: no seed passes the gate. A diamond is
the scheme's own recipe, chosen by the gate and the loss at L among the recipes that are measured
(extrap/results/tuned.py), a square the bench's own, where that is another one, a bar the mean over
recipes. Schemes stand in the order of what they find under their own recipes.
"""

from extrap.figures.drawing import POINT, entitle, leftmost, note, panels, scheme_style, text_width
from extrap.results.findings.statistics import recipes
from extrap.studies.recipe import OWN
from extrap.studies.recipe.readings import FOUND, TIMES, found, loss

NEEDS = FOUND
OF = " of several schemes whose labels name two recipes"
MAKE = " experiment=recipe/1,recipe/2 sweep.grid=null scheme=rope,alibi"
LINE = 0.3
"""Inches of height of a scheme."""


def enough(rows) -> bool:
    numbered = recipes(rows, ["recipe"])
    numbered = numbered[numbered["recipe"].notna()]
    counts = numbered[["scheme", "recipe"]].nunique()
    return bool((counts > 1).all())


def draw(rows):
    accuracy = found(rows)
    nats = loss(rows)
    tuned = accuracy[accuracy["tuned"] == 1]
    chosen = tuned.set_index("scheme")["value"]
    order = [*chosen.sort_values(ascending=False).index]
    count = len(order)
    left = 0.25 + POINT * text_width(order, 7.5)
    size = (2.6, LINE * count)
    figure, axes = panels((1, 2), size, left=left, right=0.2, gap=0.3, top=0.42)
    for panel, readings in zip(axes[0], (accuracy, nats), strict=True):
        for line, scheme in enumerate(order):
            own = readings[readings["scheme"] == scheme]
            _scheme(panel, line, own)
        panel.set(ylim=(count - 0.5, -0.5), yticks=range(count), yticklabels=order)
        panel.tick_params(axis="y", length=0, labelleft=leftmost(panel))
    first, last = axes[0]
    first.set(xlim=(-0.04, 1.04), xticks=[0, 0.5, 1], xlabel=f"accuracy at {TIMES} L")
    last.set_xlabel(f"nats per token at {TIMES} L")
    marks = "◆ a scheme's own, ■ the bench's, ● another; hollow: below the gate; bar: mean"
    number = accuracy["recipe"].nunique()
    entitle(figure, "Each scheme under every recipe", f"{note(rows)} · {number} recipes: {marks}")
    return figure


def _scheme(panel, line: int, rows) -> None:
    """Draws the readings of one scheme and their mean."""
    colour = scheme_style(str(rows["scheme"].iloc[0])).colour
    for reading in rows.sort_values("tuned").itertuples():
        marker, size = "o", 4
        if reading.recipe == OWN:
            marker, size = "s", 5
        if reading.tuned:
            marker, size = "D", 6.5
        face = "white" if reading.lost else colour
        edge = "black" if reading.tuned else colour
        look = {"markersize": size, "markerfacecolor": face, "markeredgecolor": edge}
        panel.plot([reading.value], [line], marker, alpha=0.85, label="_reading", **look)
    mean = rows["value"].mean()
    bar = [line - 0.4, line + 0.4]
    panel.plot([mean, mean], bar, color=colour, label="_mean")
