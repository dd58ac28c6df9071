"""What the page draws of a study: one view per task, protocol and kind of curve, each a table of
points with their intervals.

A curve over lengths is made of cells (extrap.results.cells), one over depths of their rows. Both
are means over the seeds that count.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from extrap.figures.report.text import measure
from extrap.results.cells import SCORES, cells, counted, scored, taught
from extrap.results.series import Series, spread

FIRST = ("kv", "nll")
"""Tasks whose views come first."""
PREFERRED = ("records", "sliding", "last_segment")
"""Protocols that come before the others of their task."""


@dataclass(frozen=True)
class View:
    """A table of points with their intervals, for one task, protocol and kind of curve.

    Args:
        kind: length (x in tokens) or depth (x from 0 to 1, read at `length` tokens)
        points: the table, by series and x

    Columns of the table:

    x                   length in tokens, or depth
    value, low, high    mean over the seeds that count with its interval, nan where nothing supports
                        one
    seeds               number of all seeds
    series              index among the series of the page
    below               how many of all seeds are below the gate here
    """

    kind: str
    task: str
    protocol: str
    metric: str
    length: int | None
    points: pd.DataFrame

    @property
    def score(self) -> str:
        """Returns the name of the score in words; losses are drawn as perplexity."""
        return measure(self.task, self.protocol, self.metric)

    @property
    def loss(self) -> bool:
        return self.metric == "nll"


def views(found: list[Series]) -> list[View]:
    """By length first, then by depth; of each the tasks of FIRST, then the others by name."""
    rows = [taught(scored(s.rows)).assign(series=i) for i, s in enumerate(found)]
    table = pd.concat(rows).dropna(subset="length") if rows else pd.DataFrame()
    if table.empty:
        return []
    place = ["task", "protocol", "metric"]
    lengths = cells(table)
    depths = table[table["depth"].notna()]
    out = []
    at: tuple[Any, ...]
    for at, part in lengths.groupby(place):
        task, protocol, metric = at
        if part["length"].nunique() > 1:
            points = _points(_bare(part), "length", metric)
            out.append(View("length", task, protocol, metric, None, points))
    for at, part in depths.groupby([*place, "length"]):
        task, protocol, metric, length = at
        if part["depth"].nunique() > 1:
            points = _points(part, "depth", metric)
            out.append(View("depth", task, protocol, metric, int(length), points))
    return sorted(out, key=_order)


def _order(view: View) -> tuple:
    early = FIRST.index(view.task) if view.task in FIRST else len(FIRST)
    place = PREFERRED.index(view.protocol) if view.protocol in PREFERRED else len(PREFERRED)
    of_task = early, view.task, place, view.protocol, SCORES.index(view.metric)
    return view.kind == "depth", *of_task, view.length or 0


def _bare(found: pd.DataFrame) -> pd.DataFrame:
    """Returns cells, of which a mean over several rows has no interval of its own."""
    several = found["parts"] > 1
    return found.assign(low=found["low"].mask(several), high=found["high"].mask(several))


def _points(rows: pd.DataFrame, x: str, metric: str) -> pd.DataFrame:
    """Returns the points of a view, by series and x."""
    out = []
    for index, part in rows.drop_duplicates(["series", "run", x]).groupby("series"):
        table = spread(counted(part), x)
        if metric == "nll":
            table = table.clip(upper=700).apply(np.exp)
        below = part.loc[part["mark"] != "ok", "run"].nunique()
        seeds = part.groupby(x)["run"].nunique()
        out.append(table.assign(seeds=seeds, series=index, below=below))
    points = pd.concat(out).rename_axis("x").reset_index().astype({"x": float})
    return points[np.isfinite(points["value"])]
