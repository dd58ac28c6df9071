"""What one option of a recipe does: the means of the recipes at each of its levels.

Above: accuracy at 4 L; below: the sliding loss at 4 L. A column an option, a line a scheme; dashed:
the mean of the schemes. The nine recipes are an orthogonal array: at each level of an option, the
levels of the others are as frequent as at its other levels.
"""

import pandas as pd

from extrap.figures.drawing import entitle, label_ends, leftmost, note, panels, scheme_style
from extrap.figures.drawing.ends import End
from extrap.figures.drawing.style import DASHED, Style
from extrap.results.findings.statistics import recipes
from extrap.studies.recipe import RECIPES
from extrap.studies.recipe.readings import FOUND, TIMES, found, loss

NEEDS = FOUND
OF = " of labels that name all nine recipes"
EVERY = ",".join(f"recipe/{number}" for number in RECIPES)
MAKE = f" experiment={EVERY} sweep.grid=null scheme=rope,alibi"
OPTIONS = {
    "weight_decay": ("weight decay", [0, 0.1, 0.3]),
    "dropout": ("dropout of", ["none", "outputs", "inputs"]),
    "optimizer": ("optimiser", ["adamw", "muon"]),
    "rate": ("peak rate", [0.0015, 0.003, 0.006]),
}
MEAN = Style("black", DASHED, "")


def enough(rows) -> bool:
    return bool(_whole(recipes(rows, ["recipe"])))


def _whole(table: pd.DataFrame) -> set[str]:
    """Returns the schemes that have all recipes."""
    counts = table.groupby("scheme")["recipe"].nunique()
    return {*counts.index[counts == len(RECIPES)]}


def draw(rows):
    tables = [found(rows), loss(rows)]
    schemes = set.intersection(*map(_whole, tables))
    readings = [table[table["scheme"].isin(schemes)] for table in tables]
    names = [*sorted(readings[0]["scheme"].unique()), "mean"]
    figure, axes = panels((2, 4), (1.3, 1.6), labels=names, gap=0.2, between=0.55, top=0.5)
    axes[0, 0].set_ylim(0, 1.02)
    words = (f"accuracy at {TIMES} L", f"nats per token at {TIMES} L")
    for across, table, up in zip(axes, readings, words, strict=True):
        for panel in across[1:]:
            panel.sharey(across[0])
        for panel in across:
            panel.tick_params(labelleft=leftmost(panel))
            panel.set_ylabel(up if leftmost(panel) else "")
        for panel, option in zip(across, OPTIONS, strict=True):
            ends = _option(panel, table, option)
            panel.set_xlabel(OPTIONS[option][0])
        label_ends(across[-1], ends)
    entitle(figure, "What an option of the recipe does", note(rows))
    return figure


def levels(table: pd.DataFrame, option: str) -> pd.DataFrame:
    """Returns the mean of the recipes at each level of an option: (level, scheme)."""

    def level(number: float) -> float | str:
        return getattr(RECIPES[int(number)], option)

    of_levels = table.assign(level=table["recipe"].map(level))
    means = of_levels.pivot_table("value", "level", "scheme")
    _, values = OPTIONS[option]
    return means.loc[values]


def _option(panel, table: pd.DataFrame, option: str) -> list[End]:
    """Draws the lines of one option over the places of its levels."""
    by_scheme = levels(table, option)
    places = [*range(len(by_scheme))]
    last = places[-1]
    styles = {scheme: scheme_style(scheme) for scheme in by_scheme}
    lines = {**by_scheme, "mean": by_scheme.mean(axis=1)}
    ends = []
    for name, values in lines.items():
        style = styles.get(name, MEAN)
        panel.plot(places, values.to_numpy(), label=name, **style.stroke)
        ends.append(End(name, style, last, values.iloc[-1]))
    words = []
    for value in by_scheme.index:
        if isinstance(value, float | int):
            words.append(f"{value:g}".lstrip("0") or "0")
        else:
            words.append(value)
    panel.set(xticks=places, xticklabels=words, xlim=(-0.3, last + 0.3))
    return ends
