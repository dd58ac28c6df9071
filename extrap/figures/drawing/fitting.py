"""A figure on its page: not wider, not taller, bare, or a figure for each of its panels."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from extrap.figures.drawing.dimensions import COLOUR_BAR, HIGH, PAGE, STACKED, fitted
from extrap.figures.drawing.paper import Paper
from extrap.figures.drawing.titles import EDGE, trim
from extrap.utils.errors import UserError

TRIES = 3
"""Times that panels are made shorter: legends and titles keep their height."""


def made_for(paper: Paper, draw: Callable[[], Figure]) -> dict[str, Figure]:
    """Returns {beginning of an ending: figure}: one figure, "" its name, or one for each panel.

    Raises UserError for a figure that is taller than its page however short its panels are.
    """
    make = partial(_whole, paper, draw)
    if not paper.panels:
        return {"": make()}
    count = len(_panels(make()))
    return {f"-{k + 1}.": _alone(make(), k) for k in range(count)}


def _whole(paper: Paper, draw: Callable[[], Figure]) -> Figure:
    if paper.width is not None:
        return _lower(paper, draw, paper.width / paper.scale)
    made = _lower(paper, draw, None)
    if made.get_figwidth() > PAGE:
        with suppress(UserError):  # a table of many columns stays as it is
            narrow = _lower(paper, draw, PAGE)
            made = min(made, narrow, key=lambda figure: figure.get_figwidth())
    return made


def _lower(paper: Paper, draw: Callable[[], Figure], width: float | None) -> Figure:
    """Returns a figure with panels so short that it fits the height of its page."""
    limit = (paper.height or HIGH) / paper.scale
    shorter, made = 1.0, None
    for _ in range(TRIES):
        with fitted(width, paper.bare, paper.legend, shorter):
            made = draw()
        if paper.bare:
            trim(made)
        over = made.get_figheight() - limit
        stacked = STACKED.get(made, 0.0)
        if over <= 0 or not stacked:
            break
        shorter *= max(0.05, (stacked - over - EDGE) / stacked)
    assert made is not None
    if paper.height and made.get_figheight() > limit + 1e-6:
        tall = made.get_figheight() * paper.scale
        problem = f"the figure is {tall:.1f}in high, its page {paper.height:.1f}in"
        remedy = "choose --series, --lengths or --protocol, a wider page, or --panels"
        raise UserError("--height", problem=problem, remedy=remedy)
    return made


def _panels(figure: Figure) -> list[Axes]:
    """Returns the panels, the bars of colours left out."""
    return [panel for panel in figure.axes if panel.get_label() != COLOUR_BAR]


def _alone(figure: Figure, k: int) -> Figure:
    """Returns a figure less all of its panels but one, with the names that its axes have at the
    border of the figure, and the bar of colours beside it.
    """
    panels = _panels(figure)
    kept = panels[k]
    row = [one for one in panels if abs(one.get_position().y0 - kept.get_position().y0) < 1e-6]
    first = min(row, key=lambda one: one.get_position().x0)
    if not kept.get_ylabel():
        kept.set_ylabel(first.get_ylabel())
    if not any(_words(kept.get_yticklabels())):
        kept.set_yticks(first.get_yticks(), _words(first.get_yticklabels()))
    kept.tick_params(labelleft=True)
    named = next((one.get_xlabel() for one in reversed(panels) if one.get_xlabel()), "")
    numbered = [one for one in panels if any(_words(one.get_xticklabels()))]
    if not any(_words(kept.get_xticklabels())) and numbered:
        last = numbered[-1]
        kept.set_xticks(last.get_xticks(), _words(last.get_xticklabels()))
    if not kept.get_xlabel():
        kept.set_xlabel(named)
    for bar in {*figure.axes} - {*panels}:
        _move(bar, panels, kept)
    for other in panels:
        if other is not kept:
            other.remove()
    _crop(figure)
    return figure


def _move(bar: Axes, panels: list[Axes], kept: Axes) -> None:
    """Puts a bar of colours as far from a panel as it was from the one on its left."""
    at, beside = bar.get_position(), kept.get_position()
    ends = [one.get_position().x1 for one in panels]
    away = at.x0 - max((end for end in ends if end <= at.x0), default=at.x0)
    bar.set_position((beside.x1 + away, beside.y0, at.width, beside.height))


def _words(labels: Iterable[Text]) -> list[str]:
    return [label.get_text() for label in labels]


def _crop(figure: Figure) -> None:
    """Cuts what is empty around all that a figure shows."""
    trim(figure)
    wide, box = figure.get_figwidth(), figure.get_tightbbox()
    left = EDGE - box.x0
    right = box.x1 + EDGE - wide
    across = wide + left + right
    places = [(panel, panel.get_position()) for panel in figure.axes]
    figure.set_figwidth(across)
    for panel, at in places:
        x = at.x0 * wide + left
        width = at.width * wide
        panel.set_position((x / across, at.y0, width / across, at.height))
    for text in figure.texts:
        text.set_x((text.get_position()[0] * wide + left) / across)
