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
    return found["scheme"].nunique() > 1 and len(found) > found["scheme"].nunique()


def readings(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns one row per scheme, recipe and training length at TIMES L: `value`, the mean over
    seeds, and `lost`, whether no seed passes the gate.
    """
    found = recipes(rows.assign(status=judged(rows)))
    found = found[found["lr"].notna() & (found["length"] == TIMES * found["train_length"])]
    found = found.assign(lost=found["status"] == "not trained")
    return found.groupby([*FACTORS], as_index=False).agg(
        value=("value", "mean"), lost=("lost", "all")
    )


def draw(rows):
    rows = comparable(rows)
    found = readings(select(means(rows), **NEEDS))
    loss = readings(select(rows, **LOSS))
    order = found.groupby("scheme")["value"].mean().sort_values(ascending=False).index
    shares = {"accuracy": explained(found), "loss": explained(loss)}
    names = [*dict.fromkeys(chain.from_iterable(shares.values()))]
    left, gap = (0.25 + POINT * text_width(words, 7.5) for words in (order, names or order))
    size = (2.4, LINE * max(len(order), 0.62 * len(names)))
    columns = 2 if names else 1
    figure, axes = panels((1, columns), size, right=0.2, gap=gap, left=left, top=0.42)
    lengths = sorted(found["train_length"].unique())
    for line, scheme in enumerate(order):
        _scheme(axes[0, 0], line, found[found["scheme"] == scheme], lengths)
    _lines(axes[0, 0], order, f"accuracy at {TIMES} L")
    for (what, part), look in zip(shares.items(), (("o", "blue"), ("x", "red")), strict=True):
        if names:
            places = [names.index(name) for name in part]
            marker, ink = look
            stroke = {"color": COLOURS[ink], "markersize": 4, "label": what}
            axes[0, 1].plot([*part.values()], places, marker, **stroke)
    if names:
        _lines(axes[0, 1], names, "share of variance")
    marks = ", ".join(f"{mark} L = {n}" for n, mark in zip(lengths, "○□△◇", strict=False))
    drawn = rows[recipes(rows)["lr"].notna()].assign(params=None)
    words = f"{note(drawn)} · {marks}; hollow: below the gate; bar: mean"
    words += " · right: dots accuracy, crosses loss" if names else ""
    entitle(figure, "Scheme, recipe, length", words)
    return figure


def explained(rows: pd.DataFrame) -> dict[str, float]:
    """Returns {name of a factor, or of the scheme and a factor: its share of the variance}.

    A training length counts if every scheme has every combination of layers, heads and peak rate
    there, as factors are mixed up otherwise; empty if nothing but the scheme varies then.
    """
    table = rows.pivot_table("value", [*RECIPE, "train_length"], "scheme").dropna().reset_index()
    every = table[[*RECIPE]].nunique().prod()
    table = table[table.groupby("train_length")["lr"].transform("size") == every]
    whole = table.melt([*RECIPE, "train_length"], var_name="scheme")
    total = len(whole) * whole["value"].var(ddof=0) if len(whole) else 0.0
    if not total:
        return {}

    def between(by: list[str]) -> float:
        fitted = whole.groupby(by)["value"].transform("mean")
        return float(((fitted - whole["value"].mean()) ** 2).sum() / total)

    alone = {factor: between([factor]) for factor in FACTORS if whole[factor].nunique() > 1}
    if len(alone) < 2:
        return {}
    out = {FACTORS[factor]: share for factor, share in alone.items()}
    for factor in [*alone][1:]:
        beyond = between(["scheme", factor]) - alone["scheme"] - alone[factor]
        out[f"scheme and {FACTORS[factor]}"] = beyond
    return out


def _scheme(panel, line: int, rows: pd.DataFrame, lengths: list[int]) -> None:
    """Draws the readings of one scheme, training lengths beside each other, and their mean."""
    style = scheme_style(str(rows["scheme"].iloc[0]))
    for k, (length, marker) in enumerate(zip(lengths, MARKERS, strict=False)):
        for lost, part in rows[rows["train_length"] == length].groupby("lost"):
            place = line + 0.2 * (k - (len(lengths) - 1) / 2)
            face = "white" if lost else style.colour
            look = {"color": style.colour, "markerfacecolor": face, "markersize": 3.4, "alpha": 0.8}
            panel.plot(part["value"], [place] * len(part), marker, label="_reading", **look)
    mean = rows["value"].mean()
    panel.plot([mean] * 2, [line - 0.4, line + 0.4], color=style.colour, label="_mean")


def _lines(panel, names, across: str) -> None:
    panel.set(xlim=(-0.04, 1.04), ylim=(len(names) - 0.5, -0.5), xticks=[0, 0.5, 1])
    panel.set(yticks=range(len(names)), yticklabels=names, xlabel=across)
    panel.tick_params(axis="y", length=0)
