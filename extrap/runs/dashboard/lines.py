"""A study in lines: the series of its tables and figures, with their means and intervals, as one
table that a chart draws as it stands.

W&B averages what it groups and puts x into buckets; here nothing is left to average.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from extrap.figures.drawing.palette import colour_and_marker
from extrap.figures.report.leaderboard import FURTHEST, Score, score
from extrap.figures.report.views import View, known, views
from extrap.results.effective import effective_lengths
from extrap.results.series import Series

COLUMNS = (
    "series", "colour", "part", "gate", "kind", "task", "protocol", "metric", "at", "x", "mean",
    "low", "high", "seeds",
)  # fmt: skip
"""Columns of the table. part: the model size or training length that a study shows apart; gate:
PASSED or BELOW; kind: length (x in tokens), depth (x from 0 to 1, read at `at` tokens) or effective
(mean in tokens, x is 0); metric: losses are perplexities; seeds: how many the mean is over.
"""
DRAWN = 120
"""Series up to which the page of a study has figures. Nobody tells more lines or panels apart, and
drawing them takes minutes; the charts of the workspace draw all.
"""
PASSED, BELOW = "passed", "below the gate"
ALIKE = 1.05
"""Models up to so many times as large as the smallest of their size have the same size: schemes of
one model differ by their own parameters.
"""


@dataclass(frozen=True)
class Lines:
    """series: of the study; parts, sizes: by label, the part and the parameters of its size;
    data: lines of the table; best: by label, the values that series are ranked by; place: task,
    protocol and metric of these.
    """

    series: list[Series]
    parts: Mapping[str, str]
    sizes: Mapping[str, int]
    data: list[tuple]
    best: Mapping[str, Mapping[str, float]]
    place: tuple[str, str, str] | None

    @property
    def colours(self) -> dict[str, str]:
        return {s.label: colour(s) for s in self.series}

    def records(self) -> Iterator[dict[str, Any]]:
        """The lines of the table, each as {column: value}."""
        return (dict(zip(COLUMNS, line, strict=True)) for line in self.data)

    @cached_property
    def of_rows(self) -> dict[int, Series]:
        """The series of every row by its place among the rows."""
        return {int(row): s for s in self.series for row in s.rows.index}

    @cached_property
    def lost(self) -> set[int]:
        """Places of rows whose run has not learned their task."""
        return {int(row) for s in self.series for row in s.rows.index[s.rows["mark"] != "ok"]}


def lines(rows: pd.DataFrame) -> Lines:
    """Returns the lines of a study: means over seeds with the intervals of the tables; seeds below
    the gate of a task have lines of their own. Raises UserError for mixed corpora.
    """
    found = known(rows)
    sizes = _sizes(found)
    parts = _parts(found, sizes)
    data: list[tuple] = []
    shown: list[View] = []
    for gate in (PASSED, BELOW):
        own = [replace(s, rows=s.rows[(s.rows["mark"] == "ok") == (gate == PASSED)]) for s in found]
        drawn = views(own)
        shown += drawn
        data += [line for view in drawn for line in _curves(view, gate, found, parts)]
    data += [line for s in found for line in _effective(s, parts[s.label])]
    loss = next((view for view in shown if view.kind == "length" and view.loss), None)
    of = score(shown)
    ranked = [*dict.fromkeys((v.task, v.protocol, _metric(v)) for v in (of, loss) if v)]
    return Lines(found, parts, sizes, data, _best(found, data, ranked), ranked[0] if of else None)


def colour(s: Series) -> str:
    """Returns the colour of the extension of a series in the figures, else of its scheme."""
    if s.extension == "direct":
        return colour_and_marker(s.scheme)[0]
    return colour_and_marker(s.extension.partition(",")[0], "extension")[0]


def _curves(
    view: View, gate: str, found: Sequence[Series], parts: Mapping[str, str]
) -> Iterator[tuple]:
    for curve in view.curves:
        s = found[curve.series]
        names = (s.label, colour(s), parts[s.label], gate, view.kind, view.task, view.protocol)
        for p in curve.points:
            numbers = map(_finite, (p.x, p.value, p.low, p.high))
            yield (*names, _metric(view), view.length, *numbers, p.seeds)


def _metric(of: View | Score) -> str:
    """Returns the metric of a view as it is shown: losses as perplexities."""
    return "perplexity" if of.metric == "nll" else of.metric


def _effective(s: Series, part: str) -> Iterator[tuple]:
    learned = s.rows[s.rows["mark"] == "ok"].assign(status="ok")
    for (task, protocol), length in effective_lengths(replace(s, rows=learned)).items():
        own = learned[(learned["task"] == task) & (learned["protocol"] == protocol)]
        names = (s.label, colour(s), part, PASSED, "effective", task, protocol, "effective length")
        numbers = map(_finite, (length.tokens, length.low, length.high))
        yield (*names, None, 0.0, *numbers, own["run"].nunique())


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _sizes(found: Sequence[Series]) -> dict[str, int]:
    """Returns the parameters of the smallest model of the size of each series, 0 if unknown."""
    own = {s.label: int(s.rows["params"].dropna().max() or 0) for s in found}
    smallest: list[int] = []
    for count in sorted(set(own.values())):
        if not smallest or count > ALIKE * smallest[-1]:
            smallest.append(count)
    return {label: max(n for n in smallest if n <= count) for label, count in own.items()}


def _parts(found: Sequence[Series], sizes: Mapping[str, int]) -> dict[str, str]:
    """Returns the size of each series if they differ, and its training length if they differ."""
    lengths = {s.label: int(s.rows["train_length"].iloc[0]) for s in found}
    alike: dict[tuple, set[int]] = {}
    for s in found:
        alike.setdefault((s.scheme, s.data, s.extension), set()).add(sizes[s.label])
    several = any(len(own) > 1 for own in alike.values())
    longer = len(set(lengths.values())) > 1
    parts = {}
    for label in sorted(lengths, key=lambda label: (sizes[label], lengths[label])):
        size, length = f"{sizes[label]:,} parameters", f"L = {lengths[label]}"
        parts[label] = ", ".join([size] * several + [length] * longer)
    return parts


def _best(
    found: Sequence[Series], data: Sequence[tuple], ranked: Sequence[tuple[str, str, str]]
) -> dict[str, dict[str, float]]:
    """Returns by label the values that series are ranked by, and counts. ranked: task, protocol and
    metric of scores at FURTHEST times L.
    """
    means: dict[tuple, float] = {}
    for line in data:
        of = dict(zip(COLUMNS, line, strict=True))
        if of["kind"] != "depth" and of["mean"] is not None:
            key = (of[name] for name in ("series", "kind", "task", "protocol", "metric", "x"))
            means.setdefault(tuple(key), of["mean"])  # trained seeds come first
    first = ranked[0] if ranked else ("", "", "")
    out = {}
    for s in found:
        far = FURTHEST * int(s.rows["train_length"].iloc[0])
        places = {"effective length": ("effective", *first[:2], "effective length", 0.0)}
        places |= {f"{place[-1]} at {FURTHEST} L": ("length", *place, far) for place in ranked}
        reached = {name: means.get((s.label, *place)) for name, place in places.items()}
        below = s.rows[(s.rows["mark"] != "ok") & (s.rows["task"] == first[0])]
        counts = {"seeds": s.rows["run"].nunique(), BELOW: below["run"].nunique()}
        if len(params := s.rows["params"].dropna()):
            counts["parameters"] = int(params.iloc[0])
        out[s.label] = {name: v for name, v in reached.items() if v is not None} | counts
    return out
