"""Panels of a fixed size in inches, and labels at the right end of lines that do not overlap."""

import math
import textwrap
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from extrap.figures.drawing.style import Look

POINT = 1 / 72
LABEL = 6.8
PITCH = 1.22 * LABEL * POINT


@dataclass(frozen=True)
class End:
    """The last data point (x, y) of a labelled line; y is nan where this panel does not show it, and x then the last length it has."""

    label: str
    look: Look
    x: float
    y: float


def label_room(labels) -> float:
    """Inches beside a panel that `label_ends` needs."""
    return POINT * (27 + 8 + text_width(labels, LABEL))


def text_width(labels, size: float) -> float:
    """Points that the widest of these takes at a font size in points."""
    return max(TextPath((0, 0), label, size).get_extents().width for label in labels)


def label_height(count: int, least: float) -> float:
    """Inches of height that a panel with so many labels needs."""
    return max(least, count * PITCH)


def panels(grid: tuple[int, int], size: tuple[float, float], *, right, gap, between=0.5, left=0.62, top=0.66):
    """(Figure, Axes (rows, columns)): a grid of panels of width x height inches, `gap` between columns, `between` rows, three margins."""
    (rows, columns), (width, height), bottom = grid, size, 0.72
    across, down = left + columns * width + (columns - 1) * gap + right, bottom + rows * height + (rows - 1) * between + top
    figure = Figure(figsize=(across, down))
    axes = np.empty(grid, object)
    for i, j in np.ndindex(grid):
        x, y = left + j * (width + gap), down - top - height - i * (height + between)
        axes[i, j] = figure.add_axes((x / across, y / down, width / across, height / down))
    return figure, axes


def pairs(count: int, size: tuple[float, float], **margins):
    """(Figure, [Axes]): so many panels, two in a row where there are more than one; `margins` as in `panels`."""
    figure, axes = panels((-(-count // 2), min(2, count)), size, **margins)
    for spare in axes.flat[count:]:
        spare.remove()
    return figure, list(axes.flat[:count])


CHARACTER = 0.052
"""Inches that a character of the small note takes, with some room."""


def entitle(figure: Figure, title: str, note: str) -> None:
    """A title over the panels and a small note (study, training length, seeds, kind of interval) under them."""
    width, height = figure.get_size_inches()
    figure.text(0.12 / width, 1 - 0.1 / height, title, ha="left", va="top", fontsize=10, fontweight="bold")
    lines = textwrap.fill(note, int(width / CHARACTER))
    figure.text(0.12 / width, 0.08 / height, lines, ha="left", va="bottom", fontsize=6.5, color="#666666", linespacing=1.1)


def thin_lines(axes, table, look: Look) -> None:
    """Every seed of a series, a column each, as a thin line. One seed is the thick line itself."""
    if table.shape[1] > 1:
        axes.plot(table.index, table.to_numpy(float), color=look.colour, linewidth=0.5, alpha=0.6, label="_seed")


def spaced(wanted, gap: float) -> np.ndarray:
    """Ascending positions at least `gap` apart, within [0, 1] where they fit, at the least squared distance from ascending `wanted`.

    Bounded isotonic regression of wanted[i] - i gap by pooling neighbours that violate the order.
    """
    pools = []
    for value in np.asarray(wanted, float) - gap * np.arange(len(wanted)):
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, m), (b, n) = pools[-2:]
            pools[-2:] = [((a * m + b * n) / (m + n), m + n)]
    flat = np.concatenate([np.full(size, value) for value, size in pools])
    room = 1 - gap * (len(wanted) - 1)
    return np.clip(flat, min(0, room), max(0, room)) + gap * np.arange(len(wanted))


def label_ends(axes, ends: list[End]) -> None:
    """Name lines beside the right border of a panel, each with a sample of its look, at the height where it ends.

    A line that ends before the others is named with the place of its end, one that this panel lacks below all. Limits must be final.
    """
    axes.get_xlim(), axes.get_ylim()  # reading the limits brings pending ones into force
    width, height = np.asarray(axes.get_position().size) * axes.figure.get_size_inches() / POINT
    last = max((end.x for end in ends if not math.isnan(end.y)), default=math.inf)
    tails = [axes.transLimits.transform(axes.transScale.transform((end.x, end.y))) for end in ends]
    heights = np.array([-0.1 if math.isnan(end.y) else np.clip(y, 0, 1) for end, (_, y) in zip(ends, tails, strict=True)])
    order = np.argsort(heights, kind="stable")
    for place, i in zip(spaced(heights[order], PITCH / POINT / height), order, strict=True):
        end, (x, y) = ends[i], tails[i]
        whole = end.x == last and not math.isnan(end.y)
        if whole:
            _line(axes, (x, 1 + 5 / width), (y, place), color=end.look.colour, linewidth=0.5, alpha=0.8)
        _line(axes, (1 + 6 / width, 1 + 15 / width, 1 + 24 / width), (place,) * 3, **end.look.stroke | {"markevery": [1]})
        text = end.label if whole else f"{end.label} (to {end.x:g})"
        where = {"xy": (1, place), "xytext": (27, 0), "xycoords": "axes fraction", "textcoords": "offset points"}
        axes.annotate(text, **where, va="center", fontsize=LABEL, color=end.look.text, annotation_clip=False)


def _line(axes, x, y, **stroke) -> None:
    # Drawn on the figure, so that the lines of an Axes are data and nothing else.
    axes.figure.add_artist(Line2D(x, y, transform=axes.transAxes, **stroke))
