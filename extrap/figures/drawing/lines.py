"""One line of a figure: thin seeds, their thick mean, its 95 % interval as a band or as bars."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from extrap.figures.drawing.ends import End, thin_lines
from extrap.figures.drawing.style import Style, style_of
from extrap.results.series import seeds, spread


def line(
    panel,
    rows,
    by: str,
    style: Style,
    label: str,
    *,
    through: Callable | None = None,
    within: tuple[float, float] = (-math.inf, math.inf),
    band: float = 0.13,
    bars: bool = False,
    thin: bool = True,
    zorder: float = 3,
    **stroke,
) -> End:
    """Draws rows over the column `by`; returns where the line ends, y nan if there are no rows,
    with the number of seeds and their greatest standard error.

    Args:
        through: a function of values before they are drawn (np.exp of a loss).
        within: where intervals end.
        band: opacity of the interval, 0 for none; bars: the interval as bars instead.
        thin: draws every seed.
        stroke: arguments of `plot`, added to the style.
    """
    if rows.empty:
        return End(label, style, math.nan, math.nan)
    table = seeds(rows, by)
    middle = spread(rows, by, table)
    if through:
        table, middle = through(table), through(middle)
    low, high = middle["low"].clip(*within), middle["high"].clip(*within)
    if thin:
        thin_lines(panel, table, style)
    if bars:
        error = np.abs([low - middle["value"], high - middle["value"]])
        stem = {"fmt": "none", "ecolor": style.colour, "elinewidth": 0.8, "alpha": 0.7}
        panel.errorbar(middle.index, middle["value"], error, zorder=zorder, **stem)
    elif band:
        shade = {"color": style.colour, "alpha": band, "linewidth": 0}
        panel.fill_between(middle.index, low, high, **shade)
    panel.plot(middle.index, middle["value"], label=label, zorder=zorder, **style.stroke | stroke)
    place = (middle.index[-1], middle["value"].iloc[-1])
    count = table.shape[1]
    errors = table.std(axis=1, ddof=1) / table.notna().sum(axis=1) ** 0.5
    error = float(errors.max()) if count > 1 else math.nan
    return End(label, style, *place, seeds=count, error=error)


def curve(panel, s, rows, by: str, style: Style | None = None, **more) -> End:
    """Draws rows of the series s as `line` does, behind the others where it is below the gate."""
    order: dict[str, Any] = {"band": 0.15, "zorder": 3 if s.ok else 2} | more
    return line(panel, rows, by, style or style_of(s), s.label, **order)
