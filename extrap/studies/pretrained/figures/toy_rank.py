"""The order of methods on a small model and on a real one: loss at 8 L against loss after a jump to
8 L.

Across: the study `extension`, loss of the last segment of 8 L tokens, mean over seeds; models of
0.2 M parameters with the scheme that most methods were read on. Up: loss after a jump of the
coordinates to 8 L, with the interval of its rows, and not what the jump adds, which is little for a
method that has spoilt the text without it. Every method is set for 8 on both; lower is better on
both. Under the title Spearman's rank correlation over the methods that both were read with.
"""

import math

import pandas as pd

from extrap.figures.drawing import (
    End,
    entitle,
    label_ends,
    method_style,
    note,
    panels,
)
from extrap.results.methods import compared, methods
from extrap.results.series import select
from extrap.results.stats.ranks import spearman
from extrap.studies.extension.methods import of_main_parent, order, title

BESIDE = "extension"
NEEDS = {"task": "gap", "metric": "nll", "protocol": "jump", "seen": "text"}
TOY = {"task": "nll", "metric": "nll", "protocol": "last_segment", "seen": "text"}
OF = " of three methods at 8 times the training length"
MAKE = " model=smollm2-135m stage=evaluate extension=direct,pi,yarn"
FACTOR = 8.0


def enough(rows) -> bool:
    return len(_by_method(rows, NEEDS)) >= 3


def _by_method(rows: pd.DataFrame, needs: dict) -> pd.DataFrame:
    """Returns value, low, high by method at 8 L, of untuned methods set for 8."""
    rows = select(rows, **needs)
    if rows.empty:
        return rows
    of_parent = of_main_parent(methods(rows))
    rows = compared(of_parent, FACTOR)
    rows = rows[(rows["multiple"] == FACTOR) & ~rows["log_n"]]
    return rows.groupby("method")[["value", "low", "high"]].mean()


def draw(rows):
    small = rows[rows["study"] == BESIDE]
    real = rows[rows["study"] != BESIDE]
    # the control that was trained without repeated text is another model
    extended = small.loc[small["extension"] != "direct", "data"]
    plain = small[small["data"] == extended.min()]
    across = _by_method(plain, TOY)["value"]
    up = _by_method(real, NEEDS)
    shown = order(across.index.intersection(up.index))
    labels = [title(method) for method in shown]
    figure, ((panel,),) = panels((1, 1), (2.6, 2.6), labels=labels, top=0.86)
    rightmost = across[shown].max()
    ends = []
    for method, label in zip(shown, labels, strict=True):
        x = across[method]
        (y, low, high) = up.loc[method]
        style = method_style(method)
        if not math.isnan(low):
            panel.plot([x, x], [low, high], color=style.colour, linewidth=1.0)
        panel.plot([x], [y], label=label, **style.stroke)
        ends.append(End(label, style, rightmost, y))
    panel.set_xlabel("small model: nats per token at 8 L")
    panel.set_ylabel("real model: nats per token\nafter a jump to 8 L")
    label_ends(panel, ends)
    rho = spearman(across[shown], up.loc[shown, "value"])
    below = f"{note(real)} · beside study {BESIDE} · bars: 95 % bootstrap over documents"
    words = f"Methods on a small model and on a real one: rank correlation {rho:.2f}"
    entitle(figure, words, below)
    return figure
