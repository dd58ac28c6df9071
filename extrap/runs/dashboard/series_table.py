"""The table of a study that a dashboard draws: a line for each point of each series, with its mean
and interval, and what series are sorted by.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from extrap.figures.drawing.palette import colour_and_marker
from extrap.figures.report.views import View, views
from extrap.results.effective import effective_lengths
from extrap.results.ranking import FURTHEST, Score
from extrap.results.series import Series, select

COLUMNS = (
    "series", "colour", "part", "gate", "kind", "task", "protocol", "metric", "at", "x", "mean",
    "low", "high", "seeds", "bound",
)  # fmt: skip
"""Columns of the table. part: the model size or training length that a study shows apart; gate:
PASSED or BELOW; kind: length (x in tokens), depth (x from 0 to 1, read at `at` tokens) or effective
(mean in tokens, x is 0); metric: losses are perplexities; seeds: how many the mean is over; bound:
>= at an effective length that ends with the longest text, else empty.
"""
PASSED, BELOW = "passed", "below the gate"
Rows = list[dict[str, Any]]


def colour(s: Series) -> str:
    """Returns the colour of the extension of a series in the figures, else of its scheme."""
    if s.extension == "direct":
        return colour_and_marker(s.scheme)[0]
    return colour_and_marker(s.extension.partition(",")[0], "extension")[0]


def lines(found: Sequence[Series], parts: Mapping[str, str]) -> tuple[Rows, list[View]]:
    """Returns the lines of the table, and the views that they belong to."""
    lines: Rows = []
    shown: list[View] = []
    for gate in (PASSED, BELOW):
        for view in views([_at_gate(s, gate) for s in found]):
            shown.append(view)
            of_view = {
                "gate": gate,
                "kind": view.kind,
                "task": view.task,
                "protocol": view.protocol,
                "metric": metric(view),
                "at": view.length,
            }
            for p in view.points.itertuples():
                s = found[p.series]
                of_point = {"x": p.x, "mean": p.value, "low": p.low, "high": p.high}
                lines.append(_line(s, parts, **of_view, **of_point, seeds=p.seeds))
    for s in found:
        lines += [_line(s, parts, **values) for values in _effective(s)]
    return lines, shown


def _at_gate(s: Series, gate: str) -> Series:
    """Returns a series with its seeds above the gate of a task alone, or with those below."""
    passed = s.rows["mark"] == "ok"
    return replace(s, rows=s.rows[passed if gate == PASSED else ~passed])


def _line(s: Series, parts: Mapping[str, str], **values: Any) -> dict[str, Any]:
    """Returns a line of the table, with None for numbers that are not finite."""
    line = dict.fromkeys(COLUMNS, "")
    line |= {"series": s.label, "colour": colour(s), "part": parts[s.label], **values}
    for name, value in line.items():
        if isinstance(value, float) and not math.isfinite(value):
            line[name] = None
    return line


def metric(of: View | Score) -> str:
    """Returns the metric of a view as it is shown: losses as perplexities."""
    return "perplexity" if of.metric == "nll" else of.metric


def _effective(s: Series) -> Iterator[dict[str, Any]]:
    """Yields the effective lengths of a series, as values of a line."""
    for (task, protocol), length in effective_lengths(s).items():
        own = select(s.rows, task=task, protocol=protocol, mark="ok")
        yield {
            "gate": PASSED,
            "kind": "effective",
            "task": task,
            "protocol": protocol,
            "metric": "effective length",
            "at": None,
            "x": 0.0,
            "mean": float(length.tokens),
            "low": float(length.low),
            "high": float(length.high),
            "seeds": own["run"].nunique(),
            "bound": ">=" * length.least,
        }


def parts(found: Sequence[Series], smallest: Mapping[str, int]) -> dict[str, str]:
    """Returns the size of each series if they differ, and its training length if they differ."""
    lengths = {s.label: int(s.rows["train_length"].iloc[0]) for s in found}
    alike: dict[tuple, set[int]] = {}
    for s in found:
        alike.setdefault((s.scheme, s.data, s.extension), set()).add(smallest[s.label])
    several_sizes = any(len(own) > 1 for own in alike.values())
    several_lengths = len(set(lengths.values())) > 1
    parts = {}
    for label in sorted(lengths, key=lambda label: (smallest[label], lengths[label])):
        words = []
        if several_sizes:
            words.append(f"{smallest[label]:,} parameters")
        if several_lengths:
            words.append(f"L = {lengths[label]}")
        parts[label] = ", ".join(words)
    return parts


def best(s: Series, lines: Rows, ranked: Sequence[tuple[str, str, str]]) -> dict[str, float]:
    """Returns the values that a series is ranked by, and counts. ranked: task, protocol and metric
    of scores at FURTHEST times L.
    """
    far = FURTHEST * int(s.rows["train_length"].iloc[0])
    first = ranked[0] if ranked else ("", "", "")
    places = {"effective length": ("effective", *first[:2], "effective length", 0.0)}
    for place in ranked:
        places[f"{place[-1]} at {FURTHEST} L"] = ("length", *place, far)
    own = [line for line in lines if line["series"] == s.label]
    place_of = itemgetter("kind", "task", "protocol", "metric", "x")
    means = {}
    for line in reversed(own):  # trained seeds come first, so that their mean is the last to be put
        if line["kind"] != "depth" and line["mean"] is not None:
            means[place_of(line)] = line["mean"]
    best = {name: means[place] for name, place in places.items() if place in means}
    below = s.rows[(s.rows["mark"] != "ok") & (s.rows["task"] == first[0])]
    best |= {"seeds": s.rows["run"].nunique(), BELOW: below["run"].nunique()}
    if len(params := s.rows["params"].dropna()):
        best["parameters"] = int(params.iloc[0])
    if any(line["bound"] == ">=" and place_of(line) == places["effective length"] for line in own):
        best["effective length is a lower bound"] = 1
    return best
