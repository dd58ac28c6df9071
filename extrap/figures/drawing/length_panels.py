"""A number against length, a line per series, a panel per protocol: what most figures of losses
and of accuracy are.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import numpy as np

from extrap.figures.drawing.axes import SHARE, length_axis, mark_training, perplexity_axis
from extrap.figures.drawing.ends import End, all_ends, label_ends
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import series

MANY = 8
"""Series above which intervals are faint: they cover each other."""
BEYOND = 3
"""Times the greatest perplexity at the end of a line to which an axis goes; intervals go on."""


def with_ends(found) -> list[str]:
    """Returns names of series with room for the note at a line that ends early."""
    return [f"{s.label} (to 64)" for s in found]


def length_figure(
    rows,
    titles: dict[str, str],
    what: str,
    title: str,
    note: str,
    *,
    size: tuple[float, float] = (2.6, 2.5),
    gap: float = 0.25,
    each: bool = False,
    limits: tuple[float, float] | None = SHARE,
    perplexity: bool = False,
    across: str = "evaluation length (tokens)",
    also: Callable | None = None,
    style: Callable = style_of,
    names: Callable = with_ends,
):
    """Returns a figure of one row of panels, one for each protocol in `titles` that rows hold.

    Args:
        titles: {protocol: the title of its panel}.
        what, across: names of the axes; title, note: of the figure.
        each: names lines beside every panel, in place of the last alone.
        limits: of y; None leaves them to the rows. perplexity: draws exp of values, on one log
            axis for all panels.
        also(panel, protocol): draws what a panel holds in addition to its lines.
        style(series): how a line is drawn; names(list of series): labels to leave room for.
    """
    there = {*rows["protocol"].unique()}
    shown = [protocol for protocol in titles if protocol in there]
    found = series(rows[rows["protocol"].isin(shown)])
    stroke = {"through": np.exp} if perplexity else {"within": (0, 1)} if limits == SHARE else {}
    stroke |= {"band": 0.05} if len(found) > MANY else {}
    space: dict[str, Any] = {"labels": names(found), "each": each, "gap": gap, "top": 0.86}
    figure, axes = panels((1, len(shown)), size, **space)
    ends: dict[str, list[End]] = {}
    for panel, protocol in zip(axes[0], shown, strict=True):
        parts = [(s, s.rows[s.rows["protocol"] == protocol]) for s in found]
        ends[protocol] = [
            curve(panel, s, part, "length", style(s), **stroke) for s, part in parts if len(part)
        ]
        if also:
            also(panel, protocol)
        _frame(panel, rows, perplexity)
        panel.set_title(titles[protocol], pad=16)
        panel.set_xlabel(across)
    if perplexity:
        limits = _one_scale(axes[0], chain.from_iterable(ends.values()))
    for panel, protocol in zip(axes[0], shown, strict=True):
        panel.set_ylim(limits)
        panel.tick_params(labelleft=panel is axes[0, 0] or limits is None)
        if each:
            label_ends(panel, ends[protocol])
    if not each:
        label_ends(axes[0, -1], all_ends(list(ends.values())))
    axes[0, 0].set_ylabel(what)
    entitle(figure, title, note)
    return figure


def _frame(panel, rows, perplexity: bool) -> None:
    trained = sorted(rows["train_length"].unique())
    length_axis(panel, rows["length"].astype(float), trained)
    if perplexity:
        perplexity_axis(panel)
    mark_training(panel, trained)


def _one_scale(panels, ends: Iterable[End]) -> tuple[float, float]:
    """Returns limits of y for all panels, so that a reader can compare them."""
    lows, highs = zip(*(panel.get_ylim() for panel in panels), strict=True)
    greatest = max((end.y for end in ends), default=1.0)
    return min(lows), min(max(highs), BEYOND * greatest)
