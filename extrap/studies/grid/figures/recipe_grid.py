"""How much of reach is the scheme? Accuracy at 4 L of every recipe, and what explains its variance.

Left: a line per scheme, a dot per recipe (layers, heads, peak rate) and training length, the mean
over seeds; hollow: no seed passes the gate; bar: the mean over recipes. Right: the share of the
variance between these readings that one factor explains alone, and that a factor explains together
with the scheme beyond both alone: sums of squares over the total, of training lengths that have all
recipes for all schemes. Dots: accuracy; crosses: loss at 4 L (sliding).
"""

from itertools import chain

import pandas as pd

from extrap.figures.drawing import COLOURS, POINT, entitle, note, panels, scheme_style, text_width
from extrap.figures.kv_length import means
from extrap.results.findings.statistics import recipes
from extrap.results.rows import comparable
from extrap.results.series import judged, select

NEEDS = {
    "task": "kv",
    "metric": "accuracy",
    "protocol": "records",
    "extension": "direct",
    "seen": "retrieval",
}
LOSS = {"task": "nll", "metric": "nll", "protocol": "sliding", "extension": "direct"}
OF = " of several schemes whose labels name layers, heads and lr"
MAKE = (
    " scheme=rope,alibi model.layers=2,4 "
    "'label=${hydra:runtime.choices.scheme}_layers${model.layers}_heads${model.heads}_lr${train.lr}'"
)
TIMES = 4
FACTORS = {
    "scheme": "scheme",
    "layers": "layers",
    "heads": "heads",
    "lr": "peak rate",
    "train_length": "L",
}
RECIPE = ("layers", "heads", "lr")
MARKERS = ("o", "s", "^", "D")
LINE = 0.26
"""Inches of height of a scheme."""


def enough(rows) -> bool:
    found = readings(rows)
    schemes = found["scheme"].nunique()
    return schemes > 1 and len(found) > schemes


def readings(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns one row per scheme, recipe and training length at TIMES L: `value`, the mean over
    seeds, and `lost`, whether no seed passes the gate.
    """
    found = recipes(rows.assign(status=judged(rows)), RECIPE)
    at = found["length"] == TIMES * found["train_length"]
    found = found[found["lr"].notna() & at]
    found = found.assign(lost=found["status"] == "not trained")
    groups = found.groupby([*FACTORS], as_index=False)
    return groups.agg(value=("value", "mean"), lost=("lost", "all"))


def draw(rows):
    rows = comparable(rows)
    found = readings(select(means(rows), **NEEDS))
    loss = readings(select(rows, **LOSS))
    means_of = found.groupby("scheme")["value"].mean()
    order = means_of.sort_values(ascending=False).index
    shares = {"accuracy": explained(found), "loss": explained(loss)}
    names = [*dict.fromkeys(chain.from_iterable(shares.values()))]
    left = 0.25 + POINT * text_width(order, 7.5)
    gap = 0.25 + POINT * text_width(names or order, 7.5)
    lines = max(len(order), 0.62 * len(names))
    size = (2.4, LINE * lines)
    columns = 2 if names else 1
    figure, axes = panels((1, columns), size, right=0.2, gap=gap, left=left, top=0.42)
    lengths = sorted(found["train_length"].unique())
    first = axes[0, 0]
    for line, scheme in enumerate(order):
        own = found[found["scheme"] == scheme]
        _scheme(first, line, own, lengths)
    _lines(first, order, f"accuracy at {TIMES} L")
    if names:
        last = axes[0, 1]
        looks = (("o", "blue"), ("x", "red"))
        for (what, part), (marker, ink) in zip(shares.items(), looks, strict=True):
            places = [names.index(name) for name in part]
            stroke = {"color": COLOURS[ink], "markersize": 4, "label": what}
            last.plot([*part.values()], places, marker, **stroke)
        _lines(last, names, "share of variance")
    marks = ", ".join(f"{mark} L = {n}" for n, mark in zip(lengths, "○□△◇", strict=False))
    numbered = recipes(rows, RECIPE)["lr"].notna()
    drawn = rows[numbered].assign(params=None)
    words = f"{note(drawn)} · {marks}; hollow: below the gate; bar: mean"
    words += " · right: dots accuracy, crosses loss" if names else ""
    entitle(figure, "Scheme, recipe, length", words)
    return figure


def explained(rows: pd.DataFrame) -> dict[str, float]:
    """Returns {name of a factor, or of the scheme and a factor: its share of the variance}.

    A training length counts if every scheme has every combination of layers, heads and peak rate
    there, as factors are mixed up otherwise; empty if nothing but the scheme varies then.
    """
    cells = [*RECIPE, "train_length"]
    pivot = rows.pivot_table("value", cells, "scheme")
    table = pivot.dropna().reset_index()
    every = table[[*RECIPE]].nunique().prod()
    known = table.groupby("train_length")["lr"].transform("size")
    whole = table[known == every].melt(cells, var_name="scheme")
    value = whole["value"]
    total = len(whole) * value.var(ddof=0) if len(whole) else 0.0
    if not total:
        return {}

    def between(by: list[str]) -> float:
        fitted = whole.groupby(by)["value"].transform("mean")
        squares = (fitted - value.mean()) ** 2
        return float(squares.sum() / total)

    alone = {factor: between([factor]) for factor in FACTORS if whole[factor].nunique() > 1}
    if len(alone) < 2:
        return {}
    out = {FACTORS[factor]: share for factor, share in alone.items()}
    _, *others = alone
    for factor in others:
        both = between(["scheme", factor])
        beyond = both - alone["scheme"] - alone[factor]
        out[f"scheme and {FACTORS[factor]}"] = beyond
    return out


def _scheme(panel, line: int, rows: pd.DataFrame, lengths: list[int]) -> None:
    """Draws the readings of one scheme, training lengths beside each other, and their mean."""
    style = scheme_style(str(rows["scheme"].iloc[0]))
    middle = (len(lengths) - 1) / 2
    marked = zip(lengths, MARKERS, strict=False)
    for k, (length, marker) in enumerate(marked):
        place = line + 0.2 * (k - middle)
        here = rows[rows["train_length"] == length]
        for lost, part in here.groupby("lost"):
            places = [place] * len(part)
            face = "white" if lost else style.colour
            look = {"color": style.colour, "markerfacecolor": face, "markersize": 3.4, "alpha": 0.8}
            panel.plot(part["value"], places, marker, label="_reading", **look)
    mean = rows["value"].mean()
    panel.plot([mean] * 2, [line - 0.4, line + 0.4], color=style.colour, label="_mean")


def _lines(panel, names, across: str) -> None:
    count = len(names)
    panel.set(xlim=(-0.04, 1.04), ylim=(count - 0.5, -0.5), xticks=[0, 0.5, 1])
    panel.set(yticks=range(count), yticklabels=names, xlabel=across)
    panel.tick_params(axis="y", length=0)
