"""A method of reading further as a curve: thin seeds, the thick mean, its interval as a band."""

import math
from collections.abc import Callable

from extrap.figures.drawing.ends import End, thin_lines
from extrap.figures.drawing.style import Style
from extrap.results.series import seeds, spread


def line(
    panel,
    rows,
    by: str,
    style: Style,
    label: str,
    through: Callable | None = None,
    band: bool = True,
    **more,
) -> End:
    """Draws rows over a column: thin seeds, the thick mean, its interval as a band if wanted;
    returns where the line ends.
    """
    if rows.empty:
        return End(label, style, math.nan, math.nan)
    table, middle = seeds(rows, by), spread(rows, by)
    if through:
        table, middle = through(table), through(middle)
    thin_lines(panel, table, style)
    if band:
        panel.fill_between(
            middle.index, middle["low"], middle["high"], color=style.colour, alpha=0.13, linewidth=0
        )
    panel.plot(middle.index, middle["value"], label=label, zorder=3, **style.stroke | more)
    return End(label, style, middle.index[-1], middle["value"].iloc[-1])
