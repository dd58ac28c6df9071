"""Labels at the right end of lines, that do not overlap; entries of a legend where the page is too
narrow for them.
"""

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.lines import Line2D
from scipy.optimize import isotonic_regression

from extrap.figures.drawing.page import LABEL, NAMED, PITCH, POINT, WIDTH, text_width
from extrap.figures.drawing.style import Style


@dataclass(frozen=True)
class End:
    """The last data point (x, y) of a labelled line; y is nan where this panel does not show it,
    and x then the last length it has. elsewhere: other panels alone show the line, or how far it
    goes says nothing: its label is the name alone.
    """

    label: str
    style: Style
    x: float
    y: float
    elsewhere: bool = False


def label_room(labels) -> float:
    """Inches beside a panel that `label_ends` needs."""
    if WIDTH.get():
        return 0.14
    return POINT * (27 + 8 + text_width(labels, LABEL))


def label_height(count: int, least: float) -> float:
    """Inches of height that a panel with so many labels needs."""
    if WIDTH.get():
        return least
    return max(least, count * PITCH)


def thin_lines(axes, table, style: Style) -> None:
    """Every seed of a series, a column each, as a thin line. One seed is the thick line itself."""
    if table.shape[1] > 1:
        axes.plot(
            table.index,
            table.to_numpy(float),
            color=style.colour,
            linewidth=0.5,
            alpha=0.6,
            label="_seed",
        )


def spaced(wanted, gap: float) -> np.ndarray:
    """Ascending positions at least `gap` apart, within [0, 1] where they fit, at the least squared
    distance from ascending `wanted`: bounded isotonic regression of wanted[i] - i gap.
    """
    steps = gap * np.arange(len(wanted))
    flat = isotonic_regression(np.asarray(wanted, float) - steps).x
    room = 1 - gap * (len(wanted) - 1)
    return np.clip(flat, min(0, room), max(0, room)) + steps


def label_ends(axes, ends: list[End]) -> None:
    """Name lines beside the right border of a panel, each with a sample of its style, at the height
    where it ends.

    A line that ends before the others is named with the place of its end, one that this panel lacks
    below all. Limits must be final.
    """
    if WIDTH.get():
        entries = NAMED.setdefault(axes.figure, {})
        last = max((end.x for end in ends if not math.isnan(end.y)), default=math.inf)
        for end in ends:
            short = (math.isnan(end.y) or end.x < last) and not end.elsewhere
            entries[f"{end.label} (to {end.x:g})" if short else end.label] = end.style
        return
    axes.get_xlim(), axes.get_ylim()  # reading the limits brings pending ones into force
    width, height = np.asarray(axes.get_position().size) * axes.figure.get_size_inches() / POINT
    last = max((end.x for end in ends if not math.isnan(end.y)), default=math.inf)
    tails = [axes.transLimits.transform(axes.transScale.transform((end.x, end.y))) for end in ends]
    heights = np.array(
        [
            -0.1 if math.isnan(end.y) else np.clip(y, 0, 1)
            for end, (_, y) in zip(ends, tails, strict=True)
        ]
    )
    order = np.argsort(heights, kind="stable")
    for place, i in zip(spaced(heights[order], PITCH / POINT / height), order, strict=True):
        end, (x, y) = ends[i], tails[i]
        whole = end.x == last and not math.isnan(end.y)
        if whole:
            _line(
                axes,
                (x, 1 + 5 / width),
                (np.clip(y, 0, 1), place),
                color=end.style.colour,
                linewidth=0.5,
                alpha=0.8,
            )
        _line(
            axes,
            (1 + 6 / width, 1 + 15 / width, 1 + 24 / width),
            (place,) * 3,
            **end.style.stroke | {"markevery": [1]},
        )
        text = end.label if whole or end.elsewhere else f"{end.label} (to {end.x:g})"
        where = {
            "xy": (1, place),
            "xytext": (27, 0),
            "xycoords": "axes fraction",
            "textcoords": "offset points",
        }
        axes.annotate(
            text, **where, va="center", fontsize=LABEL, color=end.style.text, annotation_clip=False
        )


def _line(axes, x, y, **stroke) -> None:
    # Drawn on the figure, so that the lines of an Axes are data and nothing else.
    axes.figure.add_artist(Line2D(x, y, transform=axes.transAxes, **stroke))
