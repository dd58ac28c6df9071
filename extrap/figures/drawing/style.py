"""One fixed look per scheme across all figures: colour, line and marker, safe for the colour-blind and readable in grey."""

from dataclasses import dataclass
from zlib import crc32

from matplotlib.colors import to_rgb

from extrap.results.series import Series

# Matthew Petroff's ten colours, arXiv 2107.02270.
BLUE, YELLOW, RED, ASH, PURPLE, BROWN, ORANGE, SAND, SLATE, CYAN = (
    "#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd",
)  # fmt: skip
COLOURS = (BLUE, YELLOW, RED, ASH, PURPLE, BROWN, ORANGE, SAND, SLATE, CYAN)
SOLID, DASHED = "-", (0, (4, 1.5))
MARKERS = "oDsv^XP*<>phd"
UNTRAINED = "#9a9a9a"
# Relatives share a colour, and those of one idea are dashed. Names that are not here get a combination that is free.
SCHEMES = {
    "rope": (BLUE, SOLID, "o"), "rope-half": (BLUE, DASHED, "o"), "rope-logn-softmax1": (BLUE, DASHED, "D"), "xpos": (BLUE, SOLID, "*"),
    "hope": (BLUE, DASHED, "*"), "partial-rope": (BLUE, SOLID, "P"), "p-rope": (BLUE, DASHED, "P"), "randomised-rope": (BLUE, DASHED, "d"),
    "equal-mean-rope-logn": (BLUE, DASHED, ">"), "rope-matched": (BLUE, SOLID, "D"), "vo-rope": (BLUE, SOLID, "X"),
    "multi-axis-rope": (BLUE, SOLID, "h"), "keynorm-rope": (BLUE, SOLID, "p"), "cosa-rope": (BLUE, DASHED, "p"),
    "linear-rope": (BLUE, SOLID, "^"), "linear-rope-cosine": (BLUE, DASHED, "^"), "xpos-window": (BLUE, DASHED, "h"),
    "rope-logn": (BLUE, DASHED, "s"),
    "sinusoidal": (YELLOW, SOLID, "v"), "sinusoidal-concat": (YELLOW, DASHED, "v"), "sinusoidal-split": (YELLOW, DASHED, "<"),
    "sinusoidal-every": (YELLOW, DASHED, "^"), "mul-sinusoidal": (YELLOW, SOLID, "X"), "raw-index": (YELLOW, SOLID, "d"),
    "raw-index-channel": (YELLOW, DASHED, "d"), "raw-index-random": (YELLOW, DASHED, "p"),
    "kerple-log": (RED, SOLID, "D"), "kerple-power": (RED, DASHED, "D"),
    "t5": (PURPLE, SOLID, "^"), "t5-128": (PURPLE, DASHED, "^"), "t5-urpe": (PURPLE, DASHED, "<"),
    "learned": (BROWN, SOLID, "P"), "learned-clamp": (BROWN, DASHED, "P"), "learned-interpolate": (BROWN, DASHED, "X"),
    "learned-hierarchical": (BROWN, DASHED, "h"), "learned-every": (BROWN, DASHED, "o"), "mul-learned": (BROWN, SOLID, "X"),
    "complex-order": (BROWN, SOLID, "*"),
    "alibi": (ORANGE, SOLID, "s"), "sandwich": (ORANGE, DASHED, "s"),
    "nope": (SLATE, SOLID, "X"), "log-n": (SLATE, DASHED, "X"), "softmax-1": (SLATE, DASHED, "o"), "sink-logit": (SLATE, DASHED, "s"),
    "keynorm": (SLATE, SOLID, "*"), "cosa": (SLATE, DASHED, "*"), "ssmax": (SLATE, DASHED, "^"), "window": (SLATE, SOLID, "h"),
    "hwfa": (SLATE, DASHED, "h"), "forgetting": (SLATE, SOLID, "d"),
    "fire": (CYAN, SOLID, "h"), "cope": (CYAN, DASHED, "h"), "floater": (CYAN, SOLID, "v"), "floater-qkv": (CYAN, DASHED, "v"),
    "shaw": (SAND, SOLID, "<"), "urpe": (SAND, DASHED, "<"), "deberta": (SAND, SOLID, ">"), "deberta-absolute": (SAND, DASHED, ">"),
    "transformer-xl": (ASH, SOLID, "d"), "xlnet": (ASH, DASHED, "d"), "tupe-a": (ASH, SOLID, "p"), "tupe-r": (ASH, DASHED, "p"),
}  # fmt: skip
FREE = tuple(
    (colour, line, marker)
    for marker in MARKERS
    for line in (SOLID, DASHED)
    for colour in COLOURS
    if (colour, line, marker) not in SCHEMES.values()
)
CONTROL_LINES = {"text": (0, (1, 1)), "retrieval": (0, (5, 1.2, 1, 1.2))}
EXTENDED = (0, (5, 1.2, 1, 1.2, 1, 1.2))

STYLE = {
    "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7,
    "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.minor.width": 0.4, "ytick.minor.width": 0.4,
    "axes.spines.right": False, "axes.spines.top": False, "axes.edgecolor": "#444444", "axes.axisbelow": True,
    "axes.grid": True, "grid.color": "#e6e6e6", "grid.linewidth": 0.5, "hatch.linewidth": 0.5,
    "text.parse_math": False, "savefig.dpi": 160, "svg.hashsalt": "extrap", "svg.fonttype": "path", "pdf.fonttype": 42,
}  # fmt: skip


@dataclass(frozen=True)
class Look:
    """How a series is drawn; `text` is its colour dark enough to be read as letters."""

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
        return {"color": self.colour, "linestyle": self.line, "marker": self.marker, "markersize": 3.6, "markerfacecolor": face,
                "markeredgewidth": 0.7, "linewidth": 1.5 if self.filled else 1.0}  # fmt: skip


def scheme_look(scheme: str) -> Look:
    """The look of a scheme; an unknown one gets a free combination that depends on nothing but its name."""
    return Look(*SCHEMES.get(scheme) or FREE[crc32(scheme.encode()) % len(FREE)])


def look(series: Series) -> Look:
    """The look of a series: its scheme's, with another line for controls and extensions; grey, dashed and hollow where it did not train."""
    plain = scheme_look(series.scheme)
    if not series.ok:
        return Look(UNTRAINED, DASHED, plain.marker, filled=False)
    if series.extension != "direct":
        return Look(plain.colour, EXTENDED, plain.marker)
    return Look(plain.colour, CONTROL_LINES.get(series.data, plain.line), plain.marker)
