"""What a design cannot decide, known before any row: a statement says so when it is declared."""

import numpy as np
import pandas as pd

from extrap.results.findings.interval import ENOUGH, interval, learning
from extrap.results.findings.statement import OF_UNITS, Statement
from extrap.results.findings.statistics import Read
from extrap.results.stats.intervals import LEVEL, median_interval
from extrap.results.stats.ranks import permutation_p

MEDIAN, RANK = "a median of {} seeds has no interval", "one seed gives a rank no interval"


def limit(statement: Statement, seeds: int) -> str:
    """Returns why so many seeds cannot decide a statement, or not in favour of it; "" if they can.

    No rows count: the question is whether the best outcome that there could be would hold.
    """
    if statement.statistic == "rank_correlation":
        return _of_orders(statement, seeds)
    if statement.unit or statement.statistic in OF_UNITS:
        return ""
    if statement.across == "median":
        low, _ = median_interval(range(seeds))
        if np.isnan(low):
            return MEDIAN.format(seeds)
    if seeds == 1:
        return RANK if statement.statistic == "rank" else ""
    if seeds < ENOUGH:
        return "two seeds support no interval"
    if statement.learning:
        best = np.full(seeds, float(statement.direction == "above"))
        (low, high), _ = learning(best)
        if not _beyond(statement, low, high):
            return (
                f"{seeds} seeds that come out alike leave a mean of all seeds of {low:.2f} to "
                f"{high:.2f}: it can fail and cannot hold"
            )
    return ""


def _of_orders(statement: Statement, seeds: int) -> str:
    """Says whether orders that agree wholly, or are opposed, would hold."""
    first = statement.contrasts[0][0]
    selection = statement.rows | first.rows
    listed = selection.get(statement.over or "", [])
    items = len({*listed}) if isinstance(listed, list) else 0
    if not items:
        return ""
    order = np.arange(items, dtype=float)
    best = 1.0 if statement.direction == "above" else -1.0
    found = _read(np.full(seeds, best), items)
    _, low, high, *_ = interval(statement, found)
    p = permutation_p(order, order)
    if items > 3 and p <= 1 - LEVEL and _beyond(statement, low, high):
        return ""
    words = f"{items} values of {statement.over} come to one order by chance, p {p:.2g}"
    if items > 3 and p <= 1 - LEVEL:
        words = f"equal orders of {items} values of {statement.over} have an interval of "
        words += f"{low:.2f} to {high:.2f}"
    return f"{words}: it cannot hold"


def _read(values, items: int) -> Read:
    seeds = len(values)
    plain = pd.Series(values, range(seeds), dtype=float)
    unknown = plain * np.nan
    return Read(plain, unknown, unknown, seeds, 0, 0.0, items)


def _beyond(statement: Statement, low: float, high: float) -> bool:
    if statement.direction == "above":
        return low > statement.threshold
    return high < statement.threshold
