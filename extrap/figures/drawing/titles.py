"""Title, note and legend of a figure, within its width."""

import textwrap

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from extrap.figures.drawing.layout import leftmost
from extrap.figures.drawing.page import LABEL, NAMED, PITCH, POINT, UNEVEN, WIDTH, text_width

CHARACTER = 0.052
"""Inches that a character of the small note takes, with some room."""
NOTE_LINE = 6.5 * 1.1 * POINT
TITLE_LINE = 0.17


def entitle(figure: Figure, title: str, note: str) -> None:
    """Writes a title over the panels and a small note (study, training length, seeds, kind of
    interval) under them; in a fitted figure the legend between. The note says so if the study has
    runs of different numbers of steps.
    """
    note += f" · {UNEVEN.get()}" if UNEVEN.get() else ""
    width, height = figure.get_size_inches()
    notes = textwrap.wrap(note, int(width / CHARACTER))
    titles = textwrap.wrap(title, max(12, int(width / 0.088)))
    below = NOTE_LINE * max(0, len(notes) - 2)
    if WIDTH.get():
        for panel in figure.axes:
            if leftmost(panel):
                panel.tick_params(labelleft=True)
            room = (panel.get_position().width * width + 0.1) / POINT
            for words in (panel.title, panel.xaxis.label):
                words.set_text(_folded(words.get_text(), room, words.get_fontsize()))
        entries = NAMED.pop(figure, {})
        columns = max(1, int((width - 0.24) / (POINT * (30 + text_width(entries, LABEL)) + 0.1)))
        rows = -(-len(entries) // columns)
        legend = 0.16 + PITCH * rows if entries else 0.0
        height = _grow(figure, below + legend, TITLE_LINE * (len(titles) - 1))
        _legend(figure, entries, (rows, columns), 0.12 + NOTE_LINE * len(notes))
    elif below:
        height = _grow(figure, below, 0)
    top, bottom = {"va": "top", "fontsize": 10}, {"va": "bottom", "fontsize": 6.5}
    bottom |= {"color": "#666666", "linespacing": 1.1}
    x = 0.12 / width
    figure.text(x, 1 - 0.1 / height, "\n".join(titles), ha="left", fontweight="bold", **top)
    figure.text(x, 0.08 / height, "\n".join(notes), ha="left", **bottom)


def legend_beside(panel, handles, sample: float = 1.2) -> None:
    """Draws a legend right of a panel; sample: length of its lines."""
    at = {"loc": "upper left", "bbox_to_anchor": (1.02, 1), "handlelength": sample}
    panel.legend(handles=handles, frameon=False, fontsize=6.5, **at)


def _folded(words: str, room: float, size: float) -> str:
    """Returns words in lines of at most `room` points."""
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


def _legend(figure: Figure, entries: dict, grid: tuple[int, int], bottom: float) -> None:
    """Draws samples of lines with their names, in columns, `bottom` inches above the border."""
    (rows, columns), (width, height) = grid, figure.get_size_inches()
    for k, (label, style) in enumerate(entries.items()):
        x = 0.12 + (k // rows) * (width - 0.24) / columns
        y = bottom + PITCH * (rows - 0.5 - k % rows)
        ends = [(x + step) / width for step in (0, 0.13, 0.26)]
        stroke = style.stroke | {"markevery": [1]}
        figure.add_artist(Line2D(ends, [y / height] * 3, transform=figure.transFigure, **stroke))
        place = ((x + 0.31) / width, y / height)
        figure.text(*place, label, va="center", fontsize=LABEL, color=style.text)
