"""How a series is drawn: one colour and marker a scheme, one line style a condition; and
matplotlib's settings.
"""

from dataclasses import dataclass

from matplotlib.colors import to_rgb

from extrap.figures.drawing.palette import BELOW_GATE, COLOURS, colour_and_marker
from extrap.results.series import Series

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
    extension; grey and hollow where it lies below the gate.
    """
    colour, marker = colour_and_marker(series.scheme)
    line = CONDITIONS[series.condition % len(CONDITIONS)]
    if not series.ok:
        return Style(BELOW_GATE, line, marker, filled=False)
    if series.extension != "direct":
        return Style(colour, EXTENDED, marker)
    return Style(colour, line, marker)
