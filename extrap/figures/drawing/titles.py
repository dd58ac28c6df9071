"""Title, note and legend of a figure, within its width."""

import textwrap
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from extrap.figures.drawing.dimensions import (
    BARE,
    LABEL,
    NAMED,
    PITCH,
    POINT,
    SAID,
    UNEVEN,
    WIDTH,
    text_width,
)
from extrap.figures.drawing.layout import leftmost

CHARACTER = 0.052
"""Inches that a character of the small note takes, with some room."""
NOTE_LINE = 6.5 * 1.1 * POINT
TITLE_LINE = 0.17
NAMES = 0.45
"""Inches under a panel for the numbers and the name of its axis."""
EDGE = 0.03
"""Inches around all that a bare figure shows."""


def entitle(figure: Figure, title: str, note: str) -> None:
    """Writes a title over the panels and a small note (study, training length, seeds, kind of
    interval) under them; in a fitted figure the legend between. The note says so if the study has
    runs of different numbers of steps. A bare figure keeps both for its caption.
    """
    note += f" · {UNEVEN.get()}" if UNEVEN.get() else ""
    width, height = figure.get_size_inches()
    notes = textwrap.wrap(note, int(width / CHARACTER))
    titles = textwrap.wrap(title, max(12, int(width / 0.088)))
    if BARE.get():
        SAID[figure], notes, titles = (title, note), [], []
    below = NOTE_LINE * max(0, len(notes) - 2)
    if WIDTH.get():
        for panel in figure.axes:
            if leftmost(panel):
                panel.tick_params(labelleft=True)
            room = (panel.get_position().width * width + 0.1) / POINT
            for words in (panel.title, panel.xaxis.label):
                words.set_text(folded(words.get_text(), room, float(words.get_fontsize())))
        entries = NAMED.pop(figure, {})
        entries = {f"{label}{end.behind}": end.style for label, end in entries.items()}
        columns = max(1, int((width - 0.24) / (POINT * (30 + text_width(entries, LABEL)) + 0.1)))
        rows = -(-len(entries) // columns)
        inside = _spare(figure, entries)
        legend = 0.16 + PITCH * rows if entries and inside is None else 0.0
        height = _grow(figure, below + legend, TITLE_LINE * max(0, len(titles) - 1))
        if inside is None:
            _legend(figure, entries, (rows, columns), (0.12, 0.12 + NOTE_LINE * len(notes)))
        else:
            corner = (inside[0], inside[1] + below)
            _legend(figure, entries, (len(entries), 1), corner)
    elif below:
        height = _grow(figure, below, 0)
    if BARE.get():
        return
    top: dict[str, Any] = {"va": "top", "fontsize": 10}
    bottom: dict[str, Any] = {"va": "bottom", "fontsize": 6.5}
    bottom |= {"color": "#666666", "linespacing": 1.1}
    x = 0.12 / width
    figure.text(x, 1 - 0.1 / height, "\n".join(titles), ha="left", fontweight="bold", **top)
    figure.text(x, 0.08 / height, "\n".join(notes), ha="left", **bottom)


def legend_beside(panel, handles, sample: float = 1.2) -> None:
    """Draws a legend right of a panel; sample: length of its lines."""
    at = {"loc": "upper left", "bbox_to_anchor": (1.02, 1), "handlelength": sample}
    panel.legend(handles=handles, frameon=False, fontsize=6.5, **at)


def folded(words: str, room: float, size: float) -> str:
    """Returns words in lines of at most `room` points."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width([longer], size) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def trim(figure: Figure) -> None:
    """Cuts what is empty over and under all that a figure shows."""
    height = figure.get_size_inches()[1]
    box = figure.get_tightbbox()
    _grow(figure, EDGE - box.y0, box.y1 + EDGE - height)


def _grow(figure: Figure, below: float, above: float) -> float:
    """Adds inches under and over all panels; returns the new height."""
    width, height = figure.get_size_inches()
    taller = height + below + above
    places = [(panel, panel.get_position()) for panel in figure.axes]
    figure.set_size_inches(width, taller)
    for panel, box in places:
        y = box.y0 * height + below
        h = box.height * height
        panel.set_position((box.x0, y / taller, box.width, h / taller))
    for text in figure.texts:
        text.set_y((text.get_position()[1] * height + below) / taller)
    for sample in figure.findobj(Line2D):
        if sample.get_transform() == figure.transFigure:
            before: Any = sample.get_ydata()
            sample.set_ydata([(y * height + below) / taller for y in before])
    return taller


def _spare(figure: Figure, entries: dict) -> tuple[float, float] | None:
    """Returns the left lower corner, in inches, of a cell without a panel at the end of the last
    row that has room for the legend; None without one.
    """
    width, height = figure.get_size_inches()
    boxes = [panel.get_position() for panel in figure.axes]
    bottom = min(box.y0 for box in boxes)
    last = [box for box in boxes if abs(box.y0 - bottom) < 1e-6]
    end = max(box.x1 for box in last)
    starts = sorted({round(box.x0, 6) for box in boxes if box.x0 > end})
    if not entries or not starts or len(boxes) == len(last):
        return None
    room = (1 - starts[0]) * width - 0.31 - 0.06
    tall = len(entries) * PITCH
    if tall > last[0].height * height + NAMES or text_width(entries, LABEL) * POINT > room:
        return None
    return starts[0] * width, last[0].y1 * height - tall


def _legend(
    figure: Figure, entries: dict, grid: tuple[int, int], corner: tuple[float, float]
) -> None:
    """Draws samples of lines with their names, in columns from a corner (inches)."""
    rows, columns = grid
    width, height = figure.get_size_inches()
    for k, (label, style) in enumerate(entries.items()):
        x = corner[0] + (k // rows) * (width - 0.24) / columns
        y = corner[1] + PITCH * (rows - 0.5 - k % rows)
        ends = [(x + step) / width for step in (0, 0.13, 0.26)]
        stroke = style.stroke | {"markevery": [1]}
        figure.add_artist(Line2D(ends, [y / height] * 3, transform=figure.transFigure, **stroke))
        place = ((x + 0.31) / width, y / height)
        figure.text(*place, label, va="center", fontsize=LABEL, color=style.text)
