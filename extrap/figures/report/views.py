"""What the page draws of a study: one view per task, protocol and kind of curve, each a set of
curves with their intervals.

A curve is the mean over all seeds of a series, those below the gate among them.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from extrap.figures.report.text import measure
from extrap.results.series import CONTROLS, Series, spread

SCORES = ("accuracy", "recall", "nll")
"""Metrics that are drawn, in this order; of a protocol with accuracies and losses both are."""
FIRST = ("kv", "nll")
"""Tasks whose views come first."""
PREFERRED = ("records", "sliding", "last_segment")
"""Protocols that come before the others of their task."""


@dataclass(frozen=True)
class Point:
    """x; value with its interval (nan where nothing supports one); number of seeds."""

    x: float
    value: float
    low: float
    high: float
    seeds: int


@dataclass(frozen=True)
class Curve:
    """series: index among the series of the page; below: seeds below the gate of what is drawn."""

    series: int
    points: tuple[Point, ...]
    below: int = 0


@dataclass(frozen=True)
class View:
    """kind: length (x in tokens) or depth (x from 0 to 1, read at `length` tokens)."""

    kind: str
    task: str
    protocol: str
    metric: str
    length: int | None
    curves: tuple[Curve, ...]

    @property
    def score(self) -> str:
        """Returns the name of the score in words; losses are drawn as perplexity."""
        return measure(self.task, self.protocol, self.metric)

    @property
    def loss(self) -> bool:
        return self.metric == "nll"


def views(found: list[Series]) -> list[View]:
    """By length first, then by depth; of each the tasks of FIRST, then the others by name."""
    rows = [scored(s.rows).assign(series=i) for i, s in enumerate(found)]
    table = pd.concat(rows) if rows else pd.DataFrame()
    if table.empty:
        return []
    out = []
    for (task, protocol, metric), part in table.groupby(["task", "protocol", "metric"]):
        place = (str(task), str(protocol), str(metric))
        at_depths = part[part["depth"].notna()]
        plain = part[part["depth"].isna() & part["axis"].isin(("", "index", "symbols"))]
        of_length = plain if len(plain) and at_depths.empty else at_depths
        if len(of_length) and of_length["length"].nunique() > 1:
            out.append(View("length", *place, None, _curves(_means(of_length), "length", metric)))
        for length, here in at_depths.groupby("length"):
            if here["depth"].nunique() > 1:
                curves = _curves(here, "depth", metric)
                out.append(View("depth", *place, int(length), curves))
    return sorted(out, key=_order)


def scored(rows: pd.DataFrame) -> pd.DataFrame:
    """Scores at a length, of what a run was trained for: a control on text alone has no say about
    retrieval, one on retrieval none about text.
    """
    kept = rows["layer"].isna() & rows["length"].notna() & rows["value"].notna()
    kept &= rows["metric"].isin(SCORES) & (rows["task"] != "train")
    other = np.where(rows["metric"] == "nll", "retrieval", "text")
    return rows[kept & ~(rows["data"].isin(CONTROLS) & (rows["data"] == other))]


def _order(view: View) -> tuple:
    early = FIRST.index(view.task) if view.task in FIRST else len(FIRST)
    place = PREFERRED.index(view.protocol) if view.protocol in PREFERRED else len(PREFERRED)
    of_task = early, view.task, place, view.protocol, SCORES.index(view.metric)
    return view.kind == "depth", *of_task, view.length or 0


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    """A row per run and length; what is a mean over several has no interval of its own."""
    by = ["series", "run", "length", "metric", "mark"]
    many = rows.groupby(["series", "run", "length"])["value"].transform("size") > 1
    bare = rows.assign(low=rows["low"].mask(many), high=rows["high"].mask(many))
    return bare.groupby(by, as_index=False)[["value", "low", "high"]].mean()


def _curves(rows: pd.DataFrame, x: str, metric: str) -> tuple[Curve, ...]:
    """Returns a curve per series, with the seeds below the gate of what it shows."""
    out = []
    for index, part in rows.drop_duplicates(["series", "run", x]).groupby("series"):
        table, seeds = spread(part, x), part.groupby(x)["run"].nunique()
        if metric == "nll":
            table = np.exp(table.clip(upper=700))
        below = part.loc[part["mark"] != "ok", "run"].nunique()
        points = [
            Point(float(row.Index), row.value, row.low, row.high, int(seeds[row.Index]))
            for row in table.itertuples()
            if math.isfinite(row.value)
        ]
        if points:
            out.append(Curve(int(index), tuple(points), int(below)))
    return tuple(out)
