"""Accuracy by length and depth as tables of coloured cells with their values, one per series."""

import math
from collections.abc import Sequence
from html import escape

from matplotlib import colormaps
from matplotlib.colors import to_hex

from extrap.figures.drawing.palette import ink_on
from extrap.figures.report.views import View


def colour(share: float) -> tuple[str, str]:
    """Returns (background, ink) of a share from 0 to 1: viridis is ordered in grey, too."""
    back = to_hex(colormaps["viridis"](share))
    return back, ink_on(back)


def heatmap(views: Sequence[View], index: int, name: str) -> str:
    """The table of one series: a line per depth, a column per length; `views` are of one score, by
    depth, a view per length.
    """
    cells = {
        (point.x, view.length): point.value
        for view in views
        for curve in view.curves
        if curve.series == index
        for point in curve.points
    }
    if not cells:
        return ""
    lengths = sorted({length for _, length in cells})
    depths = sorted({depth for depth, _ in cells})
    head = "".join(f'<th scope="col">{length}</th>' for length in lengths)
    body = "".join(
        f'<tr><th scope="row">{depth:g}</th>'
        + "".join(_cell(cells.get((depth, length), math.nan)) for length in lengths)
        + "</tr>"
        for depth in depths
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
