"""The page of a figure: its width in force, words of its note, and sizes of text on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakKeyDictionary

from matplotlib.textpath import TextPath

POINT = 1 / 72
LABEL = 6.8
PAGE = 8.4
"""Inches that a figure has at most: on a page of 7 inches, text of 6 points is one of 5."""
PITCH = 1.22 * LABEL * POINT
WIDTH: ContextVar[float | None] = ContextVar("width", default=None)
UNEVEN: ContextVar[str] = ContextVar("uneven", default="")
"""What the note of a figure says of runs that trained for different numbers of steps."""
NAMED: WeakKeyDictionary = WeakKeyDictionary()
"""{figure: {label: Style}} of the legend of a fitted figure."""


@contextmanager
def fitted(width: float | None):
    """Figures drawn within are at most so many inches wide; of natural width for None."""
    before = WIDTH.set(width)
    try:
        yield
    finally:
        WIDTH.reset(before)


@contextmanager
def noted(words: str) -> Iterator[None]:
    """Notes of figures drawn within end with these words."""
    before = UNEVEN.set(words)
    try:
        yield
    finally:
        UNEVEN.reset(before)


def text_width(labels, size: float) -> float:
    """Points that the widest of these takes at a font size in points; 0 for none."""
    return max((TextPath((0, 0), one, size).get_extents().width for one in labels), default=0.0)
