"""Accuracy by length and depth as tables of coloured cells with their values, one per series."""

import math
from html import escape

import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import to_hex

from extrap.figures.drawing.palette import ink_on


def colour(share: float) -> tuple[str, str]:
    """Returns (background, ink) of a share from 0 to 1: viridis is ordered in grey, too."""
    back = to_hex(colormaps["viridis"](share))
    return back, ink_on(back)


def heatmap(points: pd.DataFrame, index: int, name: str) -> str:
    """The table of one series: a line per depth, a column per length; `points` are those of the
    views of one score by depth, with the length of each.
    """
    table = points.pivot(index="x", columns="length", values="value")
    head = "".join(f'<th scope="col">{length}</th>' for length in table.columns)
    body = "".join(
        f'<tr><th scope="row">{depth:g}</th>{"".join(map(_cell, line))}</tr>'
        for depth, line in zip(table.index, table.to_numpy(), strict=True)
    )
    return (
        f'<table class="heat s" data-s="{index}"><caption>{escape(name)}</caption>'
        f'<thead><tr><th scope="col">depth</th>{head}</tr></thead><tbody>{body}</tbody></table>'
    )


def _cell(value: float) -> str:
    if math.isnan(value):
        return "<td></td>"
    back, ink = colour(value)
    words = {"1.00": "1"}.get(words := f"{value:.2f}", words).removeprefix("0") or "0"
    return f'<td style="background:{back};color:{ink}">{words}</td>'
