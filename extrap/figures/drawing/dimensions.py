"""The page of a figure: its width in force, words of its note, and sizes of text on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.path import Path
from matplotlib.textpath import TextPath

POINT = 1 / 72
LABEL = 6.8
PAGE = 8.4
"""Inches that a figure has at most: on a page of 7 inches, text of 6 points is one of 5."""
NARROW = 5.0
"""Inches of width below which panels have no words beside them, but in their titles."""
HIGH = 10.8
"""Inches of height that such a figure has at most: then its page is 9 inches high."""
PITCH = 1.22 * LABEL * POINT
WIDTH: ContextVar[float | None] = ContextVar("width", default=None)
UNEVEN: ContextVar[str] = ContextVar("uneven", default="")
"""What the note of a figure says of runs that trained for different numbers of steps."""
BARE: ContextVar[bool] = ContextVar("bare", default=False)
LEGEND: ContextVar[tuple[str, ...]] = ContextVar("legend", default=())
"""What stands behind names of lines: n, the number of seeds; se, the standard error."""
LENGTHS: ContextVar[tuple[float, ...]] = ContextVar("lengths", default=())
"""Lengths over L that a reader asked for; all of them have panels."""
SHORTER: ContextVar[float] = ContextVar("shorter", default=1.0)
"""By what panels are shorter than they like to be."""
NAMED: WeakKeyDictionary = WeakKeyDictionary()
"""{figure: {label: End}} of the legend of a fitted figure."""
SAID: WeakKeyDictionary = WeakKeyDictionary()
"""{figure: (title, note)} of a bare figure, which its caption says."""
COLOUR_BAR = "<colorbar>"
"""Label of the axes of a bar of colours: Matplotlib's, where it makes them itself."""
STACKED: WeakKeyDictionary = WeakKeyDictionary()
"""{figure: inches of height of the panels above each other that can be shorter}."""


@contextmanager
def holding(*values: tuple[ContextVar[Any], Any]) -> Iterator[None]:
    """Within, each of these variables has its value."""
    before = [(variable, variable.set(value)) for variable, value in values]
    try:
        yield
    finally:
        for variable, token in before:
            variable.reset(token)


@contextmanager
def fitted(
    width: float | None,
    bare: bool = False,
    legend: tuple[str, ...] = (),
    shorter: float = 1.0,
) -> Iterator[None]:
    """Figures drawn within are at most so many inches wide; of natural width for None. bare: they
    leave title and note to the caption; the others as LEGEND and SHORTER.
    """
    with holding((WIDTH, width), (BARE, bare), (LEGEND, legend), (SHORTER, shorter)):
        yield


@contextmanager
def noted(words: str) -> Iterator[None]:
    """Notes of figures drawn within end with these words."""
    with holding((UNEVEN, words)):
        yield


def text_width(labels, size: float) -> float:
    """Points that the widest of these takes at a font size in points; 0 for none."""
    return max((_width(one, size) for one in labels), default=0.0)


@cache
def _width(label: str, size: float) -> float:
    """Returns the points that a text takes, as get_extents has them, in a third of its time: it
    looks for the extremes of every curve, and no curve leaves the box of its own points.
    """
    path = TextPath((0, 0), label, size)
    x, codes = path.vertices[:, 0], path.codes
    off = np.zeros(len(codes), bool)
    for kind, points in ((Path.CURVE3, 2), (Path.CURVE4, 3)):
        places = np.flatnonzero(codes == kind)
        last = np.arange(len(places)) % points == points - 1
        off[places[~last]] = True
    on = ~off & np.isin(codes, (Path.MOVETO, Path.LINETO, Path.CURVE3, Path.CURVE4))
    if not on.any():
        return path.get_extents().width
    low, high = x[on].min(), x[on].max()
    if off.any() and (x[off].min() < low or x[off].max() > high):
        return path.get_extents().width
    return float(high - low)
