"""How a series is drawn: one colour and marker a scheme, one line style a condition; and
matplotlib's settings.

If the rows hold several extensions of one scheme, each series has the colour of its extension. If
two series have one colour, line and marker, the second takes the next marker.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd
from matplotlib.colors import to_rgb

from extrap.figures.drawing.palette import (
    BELOW_GATE,
    COLOURS,
    MARKERS,
    chosen,
    colour_and_marker,
    shape,
)
from extrap.results.series import Series, one_factor, setting, settings

SOLID = "-"
DASHED = (0, (4, 1.5))
CONDITIONS = (SOLID, DASHED, (0, (1, 1)), (0, (5, 1.2, 1, 1.2)), (0, (8, 2)), (0, (2, 3)))
"""Line styles of training data, in the order of `Series.condition`."""
EXTENDED = (0, (5, 1.2, 1, 1.2, 1, 1.2))
INKS = tuple(COLOURS[name] for name in ("blue", "amber", "plum", "red", "green", "petrol", "brown"))
"""Colours of heads, lengths and anything else but schemes and methods."""

RC = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.edgecolor": "#444444",
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "text.parse_math": False,
    "savefig.dpi": 160,
    "svg.hashsalt": "extrap",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


class Told(NamedTuple):
    """What tells a series from the others of the same rows."""

    scheme: str
    extension: str
    data: str
    length: int
    factor: float
    model: str


Look = tuple[str, str]
"""Colour and marker."""
LOOKS: ContextVar[Mapping[Told, Look]] = ContextVar("looks", default=MappingProxyType({}))
"""Of series that do not look like their scheme alone."""


@dataclass(frozen=True)
class Style:
    """How a line is drawn; `text` is its colour dark enough to be read as letters."""

    colour: str
    line: object
    marker: str
    filled: bool = True

    @property
    def text(self):
        return tuple(0.72 * channel for channel in to_rgb(self.colour))

    @property
    def stroke(self) -> dict:
        """Arguments of `Axes.plot`."""
        face = self.colour if self.filled else "white"
        return {
            "color": self.colour,
            "linestyle": self.line,
            "marker": self.marker,
            "markersize": 3.6,
            "markerfacecolor": face,
            "markeredgewidth": 0.7,
            "linewidth": 1.5 if self.filled else 1.0,
        }


def scheme_style(scheme: str) -> Style:
    """The style of a scheme, whatever it was trained on."""
    colour, marker = colour_and_marker(scheme)
    return Style(colour, SOLID, marker)


def method_style(method: str, filled: bool = True) -> Style:
    """The style of a method of reading further."""
    colour, marker = colour_and_marker(method, "extension")
    return Style(colour, SOLID, marker, filled)


def style_of(series: Series) -> Style:
    """The style of a series: its scheme's colour and marker, the line of its training data or of an
    extension; grey and hollow where it lies below the gate. Within `styled`, no two series above
    the gate share all three.
    """
    looks = LOOKS.get()
    own = looks.get(_told(series)) if looks else None
    colour, marker = own or colour_and_marker(series.scheme)
    line = CONDITIONS[series.condition % len(CONDITIONS)]
    if not series.ok:
        return Style(BELOW_GATE, line, marker, filled=False)
    if series.extension != "direct":
        return Style(colour, EXTENDED, marker)
    return Style(colour, line, marker)


@contextmanager
def styled(*rows: pd.DataFrame) -> Iterator[None]:
    """Within, series of these rows have a look of their own, and names without a colour what the
    rows use least.
    """
    with chosen(*rows):
        known = sorted(set(chain.from_iterable(map(_told_in, rows))))
        token = LOOKS.set(_looks(known))
        try:
            yield
        finally:
            LOOKS.reset(token)


def _told(series: Series) -> Told:
    names = ("train_length", "factor", "run", "seed")
    length, factor, run, seed = (series.rows[name].iloc[0] for name in names)
    model = setting(run, seed)
    return Told(series.scheme, series.extension, series.data, int(length), float(factor), model)


def _told_in(rows: pd.DataFrame) -> list[Told]:
    """Returns what tells the series of some rows apart."""
    factor = pd.Series(1.0, rows.index)
    extended = rows["extension"] != "direct"
    factor[extended] = one_factor(rows[extended])
    columns = ["scheme", "extension", "data", "train_length"]
    one_each = rows[[*columns, "run", "seed"]].assign(factor=factor).drop_duplicates()
    models = one_each[[*columns, "factor"]].assign(model=settings(one_each))
    return [Told(*one) for one in models.drop_duplicates().itertuples(index=False)]


def _looks(known: Sequence[Told]) -> dict[Told, Look]:
    """Returns the looks of the series that cannot keep the look of their scheme."""
    schemes = {told.scheme for told in known}
    of_scheme: dict[str, set[str]] = {name: set() for name in schemes}
    for told in known:
        of_scheme[told.scheme].add(told.extension)
    data = {told.data for told in known}
    taken: set[tuple[str, str, str]] = set()
    found = {}
    for told in sorted(known, key=lambda one: -len(of_scheme[one.scheme])):
        plain = wanted = colour_and_marker(told.scheme)
        extended = told.extension != "direct"
        several = len(of_scheme[told.scheme] - {"direct"}) > 1 or len(schemes) == 1
        if extended and several:
            wanted = colour_and_marker(told.extension.partition(",")[0], "extension")
        line = told.data if len(data) <= len(CONDITIONS) else ""
        line = " extended" if extended else line
        look = _free(wanted, plain, line, taken)
        taken.add((line, *look))
        if look != plain:
            found[told] = look
    return found


def _free(wanted: Look, plain: Look, line: str, taken: set[tuple[str, str, str]]) -> Look:
    """Returns the wanted look, else the colour with the marker of the scheme, with another one, or
    another colour, whichever no series of this line has.
    """
    if (line, *wanted) not in taken:
        return wanted
    colour, _ = wanted
    shapes = [shape(used) for of, drawn, used in taken if (of, drawn) == (line, colour)]
    others = sorted(MARKERS, key=lambda one: shapes.count(shape(one)))
    every = [(drawn, one) for drawn in (colour, *COLOURS.values()) for one in others]
    looks = [(colour, plain[1]), *every]
    return next((look for look in looks if (line, *look) not in taken), wanted)
