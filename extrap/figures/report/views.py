"""What the page draws of a study: one view per task, protocol and kind of curve, each a table of
points with their intervals.

A curve is the mean over all seeds of a series, those below the gate among them.
"""

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
class View:
    """kind: length (x in tokens) or depth (x from 0 to 1, read at `length` tokens).

    points: x; value with its interval (nan where nothing supports one); seeds, their number;
    series, the index among the series of the page; below, seeds of the series below the gate here.
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
            out.append(View("length", *place, None, _points(_means(of_length), "length", metric)))
        for length, here in at_depths.groupby("length"):
            if here["depth"].nunique() > 1:
                out.append(View("depth", *place, int(length), _points(here, "depth", metric)))
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


def _points(rows: pd.DataFrame, x: str, metric: str) -> pd.DataFrame:
    """Returns the points of a view, by series and x."""
    out = []
    for index, part in rows.drop_duplicates(["series", "run", x]).groupby("series"):
        table = spread(part, x)
        if metric == "nll":
            table = np.exp(table.clip(upper=700))
        below = part.loc[part["mark"] != "ok", "run"].nunique()
        seeds = part.groupby(x)["run"].nunique()
        out.append(table.assign(seeds=seeds, series=index, below=below))
    points = pd.concat(out).rename_axis("x").reset_index().astype({"x": float})
    return points[np.isfinite(points["value"])]
