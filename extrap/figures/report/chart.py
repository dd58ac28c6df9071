"""A view as inline SVG: axes, and a group per series with its band, its line and its points.

Each point says in its <title> what it is, so that a browser without a script shows it, too.
"""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import LogLocator

from extrap.figures.report.text import interval, number
from extrap.figures.report.views import View

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 24, 40
DASHES = ("", "6 3", "1.5 2", "7 2 1.5 2", "10 3", "3 4", "7 2 1.5 2 1.5 2")
"""Of training data, in the order of `Series.condition`; the last one of extensions."""
MARKS = {
    "o": "M-3,0A3,3 0 1 0 3,0A3,3 0 1 0 -3,0Z",
    "s": "M-2.7,-2.7H2.7V2.7H-2.7Z",
    "D": "M0,-3.8L3.8,0L0,3.8L-3.8,0Z",
    "^": "M0,-3.6L3.4,2.6H-3.4Z",
    "v": "M0,3.6L3.4,-2.6H-3.4Z",
    "<": "M-3.6,0L2.6,-3.4V3.4Z",
    ">": "M3.6,0L-2.6,-3.4V3.4Z",
    "P": "M-1.3,-3.6H1.3V-1.3H3.6V1.3H1.3V3.6H-1.3V1.3H-3.6V-1.3H-1.3Z",
    "X": "M-3.4,-1.7L-1.7,-3.4L0,-1.7L1.7,-3.4L3.4,-1.7L1.7,0L3.4,1.7L1.7,3.4L0,1.7L-1.7,3.4"
    "L-3.4,1.7L-1.7,0Z",
    "p": "M0,-3.6L3.4,-1.1L2.1,2.9H-2.1L-3.4,-1.1Z",
    "h": "M0,-3.6L3.1,-1.8V1.8L0,3.6L-3.1,1.8V-1.8Z",
    "H": "M-3.6,0L-1.8,-3.1H1.8L3.6,0L1.8,3.1H-1.8Z",
    "8": "M-1.5,-3.5H1.5L3.5,-1.5V1.5L1.5,3.5H-1.5L-3.5,1.5V-1.5Z",
    "d": "M0,-4L2.4,0L0,4L-2.4,0Z",
    "*": "M0,-4.2L1.1,-1.3L4,-1.3L1.7,.6L2.5,3.5L0,1.8L-2.5,3.5L-1.7,.6L-4,-1.3L-1.1,-1.3Z",
}


def symbols() -> str:
    """The marks, once for the page."""
    shapes = "".join(f'<path id="m{i}" d="{d}"/>' for i, d in enumerate(MARKS.values()))
    return f'<svg width="0" height="0" aria-hidden="true"><defs>{shapes}</defs></svg>'


def mark(marker: str) -> int:
    return list(MARKS).index(marker)


Axis = Callable[[float], float]


def axis(low: float, high: float, start: float, end: float, log: bool = False) -> Axis:
    """Returns a map from numbers to units of the picture, linear or by logarithm."""
    to = (lambda v: math.log(max(v, 1e-300))) if log else float
    low, high = to(low), to(high)
    room = (high - low) / 50  # beyond it a point stands at the border
    ends = (low - room, high + room)
    at = ((end - start) / 50) * np.array([-1, 1]) + (start, end)
    return lambda v: float(np.interp(to(v), ends, at)) if high > low else (start + end) / 2


def chart(view: View, names: Sequence[str], styles, train_lengths: Sequence[int]) -> str:
    """The SVG of a view.

    Args:
        names: labels of the series
        styles: (colour, marker, place among DASHES) of each
        train_lengths: lengths that the axis marks
    """
    x, ticks = _across(view, train_lengths)
    y, levels = _up(view)
    body = [_grid(x, y, ticks, levels, view)]
    body += [
        f'<path class="L" d="M{x(length):.1f},{TOP}V{HEIGHT - BOTTOM}"/>'
        f'<text x="{x(length) + 3:.1f}" y="{TOP - 3}">L</text>'
        for length in (train_lengths if view.kind == "length" else ())
    ]
    curves = view.points.groupby("series")
    index: Any
    for index, curve in curves:
        i = int(index)
        body.append(_group(view, curve, names[i], styles[i], x, y))
    what = f"{view.score} by {view.kind}" + (f", {view.length} tokens" if view.length else "")
    label = f"{what}; {len(curves)} series; arrow keys read the points"
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" tabindex="0" '
        f'aria-label="{escape(label)}">{"".join(body)}</svg>'
    )


def _across(view: View, train_lengths) -> tuple[Axis, list]:
    span = (LEFT, WIDTH - RIGHT)
    if view.kind == "depth":
        return axis(-0.03, 1.03, *span), [(d, f"{d:g}") for d in (0, 0.25, 0.5, 0.75, 1)]
    places = sorted(set(view.points["x"]))
    base = min(train_lengths)
    powers = [at for at in places if math.log2(at / base).is_integer()] or places
    ticks = [(at, f"{at:g}") for at in powers]
    return axis(places[0] / 1.1, places[-1] * 1.1, *span, log=True), ticks


def _up(view: View) -> tuple[Axis, list]:
    span = (HEIGHT - BOTTOM, TOP)
    if not view.loss:
        return axis(-0.02, 1.03, *span), [(v / 5, f"{v / 5:g}") for v in range(6)]
    low = min(view.points["value"]) / 1.1
    high = min(max(view.points["value"]) * 1.1, 1e6)
    ticks = LogLocator(subs=(1, 2, 5), numticks=15).tick_values(low, high)
    inside = [float(v) for v in ticks if low <= v <= high]
    if len(inside) > 7:
        inside = [v for v in inside if math.log10(v).is_integer()]
    return axis(low, high, *span, log=True), [
        (v, f"{v:g}" if 0.01 <= v < 1e5 else number(v)) for v in inside
    ]


def _grid(x: Axis, y: Axis, ticks, levels, view: View) -> str:
    lines = [
        f'<path class="grid" d="M{LEFT},{y(v):.1f}H{WIDTH - RIGHT}"/>'
        f'<text x="{LEFT - 5}" y="{y(v) + 4:.1f}" text-anchor="end">{words}</text>'
        for v, words in levels
    ]
    lines += [
        f'<path class="grid" d="M{x(v):.1f},{TOP}V{HEIGHT - BOTTOM}"/>'
        f'<text x="{x(v):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{words}</text>'
        for v, words in ticks
    ]
    under = "tokens read" if view.kind == "length" else "depth (0 start, 1 end)"
    up = "perplexity" if view.loss else view.metric
    across = f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">'
    return "".join([*lines, f'{across}{under}</text><text x="4" y="14">{escape(up)}</text>'])


def _group(view: View, curve: pd.DataFrame, name: str, style, x: Axis, y: Axis) -> str:
    colour, marker, place = style
    points: list[Any] = [*curve.itertuples()]
    places = [(x(p.x), y(p.value)) for p in points]
    line = "L".join(f"{a:.1f},{b:.1f}" for a, b in places)
    banded = [p for p in points if math.isfinite(p.low) and math.isfinite(p.high)]
    band = ""
    if len(banded) > 1:
        above = [(x(p.x), y(p.high)) for p in banded]
        below = [(x(p.x), y(p.low)) for p in banded[::-1]]
        edge = above + below
        band = f'<path class="band" d="M{"L".join(f"{a:.1f},{b:.1f}" for a, b in edge)}Z"/>'
    dash = DASHES[place]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    hollow = " hollow" if points[0].below else ""
    marks = "".join(
        f'<use href="#m{mark(marker)}" x="{a:.1f}" y="{b:.1f}">'
        f"<title>{escape(point_title(view, name, point))}</title></use>"
        for point, (a, b) in zip(points, places, strict=True)
    )
    return (
        f'<g class="s c-{colour}{hollow}" data-s="{points[0].series}">{band}'
        f'<path class="line"{dashed} d="M{line}"/>{marks}</g>'
    )


def point_title(view: View, name: str, point) -> str:
    """What a point is, in words: series, place, value, interval, seeds."""
    where = f"{point.x:g} tokens" if view.kind == "length" else f"depth {point.x:g}"
    value = interval(point.value, point.low, point.high)
    seeds = f"{point.seeds} seed{'s' * (point.seeds > 1)}"
    if point.below:
        seeds += f", {point.below} below the gate"
    return f"{name} · {where} · {value} · {seeds}"
