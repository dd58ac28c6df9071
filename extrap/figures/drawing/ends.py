"""Labels at the right end of lines, that do not overlap; entries of a legend where the page is too
narrow for them.
"""

import math
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from matplotlib.lines import Line2D
from scipy.optimize import isotonic_regression

from extrap.figures.drawing.dimensions import LABEL, LEGEND, NAMED, PITCH, POINT, WIDTH, text_width
from extrap.figures.drawing.style import Style

BELOW = 2
"""Names that fit between two rows of panels."""
MANY = 50
"""Seeds up to which each is a path of its own."""


@dataclass(frozen=True)
class End:
    """The last data point (x, y) of a labelled line; y is nan where this panel does not show it,
    and x then the last length it has.

    Args:
        elsewhere: other panels alone show the line, or how far it goes says nothing: its label is
            the name alone
    """

    label: str
    style: Style
    x: float
    y: float
    elsewhere: bool = False
    seeds: int = 0
    error: float = math.nan

    @property
    def behind(self) -> str:
        """What a legend says of it: n, the number of seeds; ±, the greatest standard error of its
        points over seeds.
        """
        asked = LEGEND.get()
        said = f" n = {self.seeds}" if "n" in asked and self.seeds else ""
        if "se" in asked and not math.isnan(self.error):
            said += f" ± {self.error:.2g}".replace("± 0.", "± .")
        return said


def label_room(labels) -> float:
    """Returns the inches beside a panel that `label_ends` needs."""
    behind = {"n": " n = 99", "se": " ± .999"}
    more = "".join(behind[one] for one in LEGEND.get())
    named = [f"{label}{more}" for label in labels]
    return 0.14 if WIDTH.get() else POINT * (27 + 8 + text_width(named, LABEL))


def label_height(count: int, least: float) -> float:
    """Returns the inches of height that a panel with so many labels needs."""
    return least if WIDTH.get() else max(least, count * PITCH)


def thin_lines(axes, table, style: Style) -> None:
    """Draws every seed of a series, a column each; one seed is the thick line itself."""
    if table.shape[1] > 1:
        seed_paths(axes, table, color=style.colour, linewidth=0.5, alpha=0.6)


def seed_paths(axes, table, **stroke) -> None:
    """Draws a path a column; of many columns one path with gaps, as a thousand paths take seconds.

    Args:
        table: the values of seeds, over the x axis.
        stroke: arguments of `plot`.
    """
    x = table.index
    y = table.to_numpy(float)
    count = table.shape[1]
    if count > MANY:
        x = np.tile([*x, math.nan], count)
        y = np.vstack([y, np.full((1, count), math.nan)]).T.ravel()
    axes.plot(x, y, label="_seed", **stroke)


def spaced(wanted, gap: float) -> np.ndarray:
    """Returns ascending positions at least `gap` apart, within [0, 1] where they fit, at the least
    squared distance from ascending `wanted`: bounded isotonic regression of wanted[i] - i gap.
    """
    steps = gap * np.arange(len(wanted))
    flat = isotonic_regression(np.asarray(wanted, float) - steps).x
    room = 1 - gap * (len(wanted) - 1)
    return np.clip(flat, min(0, room), max(0, room)) + steps


def all_ends(ends: list[list[End]]) -> list[End]:
    """Returns the ends of the last of several panels, and of lines that only other panels show."""
    *before, last = ends
    named = {end.label for end in last}
    away: dict[str, End] = {}
    for end in chain.from_iterable(before):
        if end.label not in named:
            away.setdefault(end.label, replace(end, y=math.nan, elsewhere=True))
    return [*last, *away.values()]


def label_ends(axes, ends: list[End]) -> None:
    """Names lines beside the right border of a panel, each with a sample of its style, at the
    height where it ends.

    A line that ends before the others, or that this panel lacks, is named with the place of its
    end. Up to BELOW of them stand under the panel, where no height says how well they do. Limits
    must be final.
    """
    last = max((end.x for end in ends if not math.isnan(end.y)), default=math.inf)
    early = [(math.isnan(e.y) or e.x < last) and not e.elsewhere for e in ends]
    labels = []
    for end, cut in zip(ends, early, strict=True):
        known = cut and not math.isnan(end.x)
        labels.append(f"{end.label} (to {end.x:g})" if known else end.label)
    if WIDTH.get():
        named = NAMED.setdefault(axes.figure, {})
        for label, end in zip(labels, ends, strict=True):
            known = named.get(label)
            greater = known is None or not end.error <= known.error
            named[label] = end if greater else known
        return
    labels = [f"{label}{end.behind}" for label, end in zip(labels, ends, strict=True)]
    axes.get_xlim()  # reading the limits brings pending ones into force
    axes.get_ylim()
    width, height = np.asarray(axes.get_position().size) * axes.figure.get_size_inches() / POINT
    to_scale = axes.transScale.transform
    to_axes = axes.transLimits.transform
    tails = [to_axes(to_scale((end.x, end.y))) for end in ends]
    heights = np.array([-0.1 if math.isnan(y) else np.clip(y, 0, 1) for _, y in tails])
    places = np.empty(len(ends))
    under = np.array(early) & (sum(early) <= BELOW)
    gap = PITCH / POINT / height
    places[under] = -gap * (1.6 + np.arange(under.sum()))  # clear of the numbers of the axis
    beside = np.flatnonzero(~under)
    beside = beside[np.argsort(heights[beside], kind="stable")]
    places[beside] = spaced(heights[beside], gap)

    def line(x, y, **stroke) -> None:  # on the figure: the lines of an Axes are data alone
        axes.figure.add_artist(Line2D(x, y, transform=axes.transAxes, **stroke))

    where = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "center"}
    where |= {"fontsize": LABEL, "annotation_clip": False}
    for i in [*beside, *np.flatnonzero(under)]:
        end = ends[i]
        place = places[i]
        x, y = tails[i]
        if end.x == last and not math.isnan(y):
            leader = {"color": end.style.colour, "linewidth": 0.5, "alpha": 0.8}
            line((x, 1 + 5 / width), (np.clip(y, 0, 1), place), **leader)
        sample = [1 + points / width for points in (6, 15, 24)]
        line(sample, (place,) * 3, **end.style.stroke | {"markevery": [1]})
        axes.annotate(labels[i], (1, place), (27, 0), color=end.style.text, **where)
