"""One fixed look per method of reading further: families share a colour, its members differ in line and marker."""

import math
from collections.abc import Callable

from extrap.figures.drawing.layout import End, thin_lines
from extrap.figures.drawing.style import ASH, BLUE, BROWN, CYAN, DASHED, FREE, ORANGE, PURPLE, RED, SLATE, SOLID, YELLOW, Look
from extrap.results.series import seeds, spread

LOOKS = {
    "direct": ("#222222", SOLID, "o"),
    "crop": (SLATE, DASHED, "X"), "window": (SLATE, SOLID, "X"), "streaming-llm": (CYAN, SOLID, "h"), "lm-infinite": (CYAN, DASHED, "h"),
    "nbce": (BROWN, SOLID, "P"), "pi": (YELLOW, SOLID, "v"), "yarn": (PURPLE, SOLID, "^"),
    "ntk": (BLUE, SOLID, "s"), "ntk-su-old": (BLUE, DASHED, "s"), "ntk-su-fixed": (BLUE, SOLID, "d"), "ntk-su-mixed": (BLUE, DASHED, "d"),
    "self-extend": (ASH, SOLID, "p"), "leaky-rerope": (RED, DASHED, "D"), "rerope": (RED, SOLID, "D"),
}  # fmt: skip
INKS = (BLUE, RED, ORANGE, PURPLE, BROWN)


def method_look(method: str, filled: bool = True) -> Look:
    """The look of a method; one that is not here gets a combination that depends on its name alone."""
    known = LOOKS.get(method) or FREE[sum(map(ord, method)) % len(FREE)]
    return Look(*known, filled=filled)


def line(panel, rows, by: str, style: Look, label: str, through: Callable | None = None, band: bool = True, **more) -> End:
    """Draws rows over a column: thin seeds, the thick mean, its interval as a band if wanted; returns where the line ends."""
    if rows.empty:
        return End(label, style, math.nan, math.nan)
    table, middle = seeds(rows, by), spread(rows, by)
    if through:
        table, middle = through(table), through(middle)
    thin_lines(panel, table, style)
    if band:
        panel.fill_between(middle.index, middle["low"], middle["high"], color=style.colour, alpha=0.13, linewidth=0)
    panel.plot(middle.index, middle["value"], label=label, zorder=3, **style.stroke | more)
    return End(label, style, middle.index[-1], middle["value"].iloc[-1])
