"""Panels of a fixed size in inches, and labels at the right end of lines that do not overlap.

A figure has its natural width, at which labels stand beside the lines. Within `fitted(width)` a
wider one is fitted to a page: panels shrink and wrap, and labels become a legend under them, so
that text keeps its size.
"""

import math
import textwrap
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath
from scipy.optimize import isotonic_regression

from extrap.figures.drawing.style import Style
from extrap.utils.errors import UserError

POINT = 1 / 72
LABEL = 6.8
PITCH = 1.22 * LABEL * POINT


NARROWEST = 0.85
"""Inches below which a panel is not drawn, but put into another row."""
WIDTH: ContextVar[float | None] = ContextVar("width", default=None)
_named: WeakKeyDictionary = WeakKeyDictionary()
"""{figure: {label: Style}} of the legend of a fitted figure."""


_broken: WeakSet = WeakSet()
"""Figures of which a row of panels was put into several."""


@contextmanager
def fitted(width: float | None):
    """Figures drawn within are at most so many inches wide; of natural width for None."""
    before = WIDTH.set(width)
    try:
        yield
    finally:
        WIDTH.reset(before)


@dataclass(frozen=True)
class End:
    """The last data point (x, y) of a labelled line; y is nan where this panel does not show it,
    and x then the last length it has.
    """

    label: str
    style: Style
    x: float
    y: float


def label_room(labels) -> float:
    """Inches beside a panel that `label_ends` needs."""
    if WIDTH.get():
        return 0.14
    return POINT * (27 + 8 + text_width(labels, LABEL))


def text_width(labels, size: float) -> float:
    """Points that the widest of these takes at a font size in points."""
    return max(TextPath((0, 0), label, size).get_extents().width for label in labels)


def label_height(count: int, least: float) -> float:
    """Inches of height that a panel with so many labels needs."""
    if WIDTH.get():
        return least
    return max(least, count * PITCH)


def panels(
    grid: tuple[int, int],
    size: tuple[float, float],
    *,
    right,
    gap,
    between=0.5,
    left=0.62,
    top=0.66,
    least=NARROWEST,
):
    """(Figure, Axes (rows, columns)): a grid of panels, in inches.

    Args:
        grid: rows and columns of panels; a fitted figure may put a row into several.
        size: width and height of a panel.
        right, left, top: margins; gap: between columns; between: rows.
        least: width below which a panel cannot be drawn.
    Raises:
        UserError: where not one panel fits into the width.
    """
    (rows, columns), (width, height), bottom = grid, size, 0.72
    across = columns
    page = WIDTH.get()
    if page and left + columns * width + (columns - 1) * gap + right > page:
        across, width = _wrapped(columns, width, page - left - right, gap, least)
        if across < columns:
            between = max(between, 0.98)
        if least == NARROWEST:
            height = min(height, 1.2 * width)
    deep = -(-columns // across)
    wide = left + across * width + (across - 1) * gap + right
    high = bottom + rows * deep * height + (rows * deep - 1) * between + top
    figure = Figure(figsize=(wide, high))
    if deep > 1:
        _broken.add(figure)
    axes = np.empty(grid, object)
    for i, j in np.ndindex(grid):
        down, along = i * deep + j // across, j % across
        x = left + along * (width + gap)
        y = high - top - height - down * (height + between)
        axes[i, j] = figure.add_axes((x / wide, y / high, width / wide, height / high))
    return figure, axes


def _wrapped(columns: int, width: float, room: float, gap: float, least: float):
    """(panels in a row, their width): as many as fit, of the rows that leave the fewest gaps."""
    fitting = [n for n in range(1, columns + 1) if (room - (n - 1) * gap) / n >= least]
    if not fitting:
        raise UserError(
            f"--width: this figure needs at least {WIDTH.get() - room + least:.1f}in; give a "
            "wider page"
        )
    rows = -(-columns // max(fitting))
    across = -(-columns // rows)
    return across, min(width, (room - (across - 1) * gap) / across)


def leftmost(panel) -> bool:
    """Whether no panel of its figure stands further left."""
    return panel.get_position().x0 <= min(one.get_position().x0 for one in panel.figure.axes) + 1e-9


def titled(panel) -> bool:
    """Whether a panel has to say what its column shows: at the top, and where columns wrap."""
    top = max(one.get_position().y1 for one in panel.figure.axes)
    return panel.figure in _broken or panel.get_position().y1 >= top - 1e-9


def pairs(count: int, size: tuple[float, float], **margins):
    """(Figure, [Axes]): so many panels, two in a row where there are more than one; `margins` as in
    `panels`.
    """
    figure, axes = panels((-(-count // 2), min(2, count)), size, **margins)
    for spare in axes.flat[count:]:
        spare.remove()
    return figure, list(axes.flat[:count])


CHARACTER = 0.052
"""Inches that a character of the small note takes, with some room."""
NOTE_LINE = 6.5 * 1.1 * POINT
TITLE_LINE = 0.17


def entitle(figure: Figure, title: str, note: str) -> None:
    """A title over the panels and a small note (study, training length, seeds, kind of interval)
    under them; in a fitted figure the legend between.
    """
    width, height = figure.get_size_inches()
    notes = textwrap.wrap(note, int(width / CHARACTER))
    titles = textwrap.wrap(title, max(12, int(width / 0.088)))
    if WIDTH.get():
        for panel in figure.axes:
            if leftmost(panel):
                panel.tick_params(labelleft=True)
            room = (panel.get_position().width * width + 0.1) / POINT
            for words in (panel.title, panel.xaxis.label):
                words.set_text(_folded(words.get_text(), room, words.get_fontsize()))
        below = NOTE_LINE * max(0, len(notes) - 2)
        above = TITLE_LINE * (len(titles) - 1)
        entries = _named.pop(figure, {})
        height = _grow(figure, below + _legend_height(entries, width), above)
        _legend(figure, entries, width, height, 0.12 + NOTE_LINE * len(notes))
    figure.text(
        0.12 / width,
        1 - 0.1 / height,
        "\n".join(titles),
        ha="left",
        va="top",
        fontsize=10,
        fontweight="bold",
    )
    figure.text(
        0.12 / width,
        0.08 / height,
        "\n".join(notes),
        ha="left",
        va="bottom",
        fontsize=6.5,
        color="#666666",
        linespacing=1.1,
    )


def _folded(words: str, room: float, size: float) -> str:
    """Words in as many lines as `room` points ask for."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width([longer], size) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def _grow(figure: Figure, below: float, above: float) -> float:
    """Adds inches under and over all panels; returns the new height."""
    width, height = figure.get_size_inches()
    taller = height + below + above
    places = [(panel, panel.get_position()) for panel in figure.axes]
    figure.set_size_inches(width, taller)
    for panel, box in places:
        y, h = box.y0 * height + below, box.height * height
        panel.set_position((box.x0, y / taller, box.width, h / taller))
    return taller


def _columns(entries: dict, width: float) -> int:
    widest = POINT * (30 + text_width(entries, LABEL)) + 0.1
    return max(1, int((width - 0.24) / widest))


def _legend_height(entries: dict, width: float) -> float:
    return 0.16 + PITCH * -(-len(entries) // _columns(entries, width)) if entries else 0.0


def _legend(figure: Figure, entries: dict, width: float, height: float, bottom: float) -> None:
    """Samples of the lines with their names, in columns, `bottom` inches above the border."""
    if not entries:
        return
    columns = _columns(entries, width)
    rows = -(-len(entries) // columns)
    for k, (label, style) in enumerate(entries.items()):
        x = 0.12 + (k // rows) * (width - 0.24) / columns
        y = bottom + PITCH * (rows - 0.5 - k % rows)
        ends = [(x + step) / width for step in (0, 0.13, 0.26)]
        stroke = style.stroke | {"markevery": [1]}
        figure.add_artist(Line2D(ends, [y / height] * 3, transform=figure.transFigure, **stroke))
        place = ((x + 0.31) / width, y / height)
        figure.text(*place, label, va="center", fontsize=LABEL, color=style.text)


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
        entries = _named.setdefault(axes.figure, {})
        last = max((end.x for end in ends if not math.isnan(end.y)), default=math.inf)
        for end in ends:
            short = math.isnan(end.y) or end.x < last
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
                (y, place),
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
        text = end.label if whole else f"{end.label} (to {end.x:g})"
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
