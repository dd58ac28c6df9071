"""One series as a curve: thin seeds, the thick mean, and its 95 % interval as a band or as bars."""

import math

import numpy as np

from extrap.figures.drawing.ends import End, thin_lines
from extrap.figures.drawing.style import Style, style_of
from extrap.results.series import seeds, spread


def curve(
    panel,
    s,
    rows,
    by: str,
    bars: bool = False,
    through=None,
    within: tuple[float, float] = (-math.inf, math.inf),
    style: Style | None = None,
    **more,
) -> End:
    """Draws `rows` of the series s over the column `by`; returns where the line ends, y nan where
    this panel has none of it.

    through: what turns values and means into what is drawn (np.exp of a loss); within: where
    intervals end; style: another than that of the series; more: arguments of `plot`.
    """
    style = style or style_of(s)
    if rows.empty:
        return End(s.label, style, s.rows[by].max(), math.nan)
    table, middle = seeds(rows, by), spread(rows, by)
    if through:
        table, middle = through(table), through(middle)
    low, high = middle["low"].clip(*within), middle["high"].clip(*within)
    order = 3 if s.ok else 2
    thin_lines(panel, table, style)
    if bars:
        error = np.abs([low - middle["value"], high - middle["value"]])
        panel.errorbar(
            middle.index,
            middle["value"],
            error,
            fmt="none",
            ecolor=style.colour,
            elinewidth=0.8,
            alpha=0.7,
            zorder=order,
        )
    else:
        panel.fill_between(middle.index, low, high, color=style.colour, alpha=0.15, linewidth=0)
    panel.plot(middle.index, middle["value"], label=s.label, zorder=order, **style.stroke | more)
    return End(s.label, style, middle.index[-1], middle["value"].iloc[-1])
