"""The table of a paper: scores of every series at multiples of the training length, with intervals
over seeds; which is best, and which lies below the gate.
"""

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from extrap.results.cells import cells, counted, taught
from extrap.results.series import SHARES, whole
from extrap.results.stats.intervals import mean_over_seeds

USUAL = (("kv", "records"), ("nll", "sliding"))
LENGTHS = (1.0, 2.0, 4.0)
"""(task, protocol) of the columns where none is chosen, and multiples of the training length."""


@dataclass(frozen=True)
class Score:
    """A mean over seeds with its 95 % interval, nan without one.

    Args:
        below: the series misses the gate of this task
    """

    value: float
    low: float
    high: float
    seeds: int
    below: bool


Column = tuple[str, str, str, float]
"""Task, protocol, metric, multiple of the training length."""


@dataclass
class Published:
    """The table of a study as papers print it. A loss is a perplexity.

    Args:
        columns: in the order of the table
        lines: {label of a series: {column: Score}}
    """

    columns: list[Column] = field(default_factory=list)
    lines: dict[str, dict[Column, Score]] = field(default_factory=dict)

    def best(self, column: Column) -> float:
        """Returns the best score of a column, of series that pass the gate; nan without any."""
        scores = [line[column] for line in self.lines.values() if column in line]
        passed = [one.value for one in scores if not one.below]
        _, _, metric, _ = column
        choose = min if metric == "perplexity" else max
        return choose(passed, default=np.nan)


def published(rows: pd.DataFrame, protocols: bool = True, lengths: bool = True) -> Published:
    """Returns the table of a study's rows.

    Args:
        protocols: of USUAL alone
        lengths: of LENGTHS alone

    Raises UserError for mixed corpora.
    """
    table = Published()
    for s in whole(rows):
        scores = cells(s.rows)
        found = counted(taught(scores))
        line = {}
        place = ["task", "protocol", "metric", "multiple"]
        key: tuple[Any, ...]
        for key, part in found.groupby(place):
            task, protocol, metric, m = key
            other = protocols and (task, protocol) not in USUAL
            between = lengths and m not in LENGTHS
            if other or between:
                continue
            name = "perplexity" if metric == "nll" else metric
            line[task, protocol, name, float(m)] = _score(part, metric)
        if line:
            table.lines[s.label] = line
    known = set(chain.from_iterable(table.lines.values()))
    order = {place: k for k, place in enumerate(USUAL)}

    def place_of(column: Column) -> tuple:
        return order.get(column[:2], len(order)), *column

    table.columns = sorted(known, key=place_of)
    return table


def _score(part: pd.DataFrame, metric: str) -> Score:
    """Returns the score of the cells of one series, a row a seed."""
    within = (0.0, 1.0) if metric in SHARES else (-np.inf, np.inf)
    value, low, high = mean_over_seeds(part["value"], within)
    if metric == "nll":
        value, low, high = np.exp([value, low, high])
    below = bool((part["mark"] != "ok").all())
    return Score(value, low, high, len(part), below)
