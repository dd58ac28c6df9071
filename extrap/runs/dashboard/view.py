"""Rows as W&B takes them: dicts with None for missing values, all of one run, extension and task.

train/<part>/<metric>                          history, x = train/step
eval/<task>/<protocol>/<metric>[/depth d]      history, x = eval/length; of every nll also the
                                               perplexity, exp(nll)
depth/<task>/<protocol>/<metric> at <length>   history, x = depth/at
<task>/<protocol>/<metric>[/depth d] at <n>    summary, a scalar for each length
table/<task>                                   table, a line per row

Measurements with a further coordinate (axis, layer, head) stay with the rows.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

AXES = {"train/*": "train/step", "eval/*": "eval/length", "depth/*": "depth/at"}
"""The x axis of each kind of history."""

COLUMNS = ["protocol", "length", "depth", "metric", "value", "low", "high", "n", "status"]


def curve(rows: Sequence[dict]) -> list[dict[str, float]]:
    """Returns the training curve, a point per step."""
    steps = [row for row in rows if row.get("task") == "train" and row.get("axis") == "step"]
    named = ((r["at"], f"train/{r['protocol']}/{r['metric']}", r["value"]) for r in steps)
    return _points("train/step", (point for point in named if point[2] is not None))


def by_length(task: str, rows: Sequence[dict]) -> list[dict[str, float]]:
    """Returns the scores of a task, a point per length."""
    found = _measured(task, rows)
    return _points("eval/length", ((r["length"], f"eval/{n}{_depth(r)}", v) for n, r, v in found))


def by_depth(task: str, rows: Sequence[dict]) -> list[dict[str, float]]:
    """Returns the scores of a task, a point per depth."""
    found = [each for each in _measured(task, rows) if each[1].get("depth") is not None]
    named = ((r["depth"], f"depth/{n} at {r['length']}", v) for n, r, v in found)
    return _points("depth/at", named)


def summary(task: str, rows: Sequence[dict]) -> dict[str, float]:
    """Returns a scalar for each score and length."""
    return {f"{n}{_depth(r)} at {r['length']}": v for n, r, v in _measured(task, rows)}


def _depth(row: dict) -> str:
    return "" if row.get("depth") is None else f"/depth {row['depth']:g}"


def _points(axis: str, found: Iterable[tuple[float, str, float]]) -> list[dict[str, float]]:
    """Returns points of a history from (place on the axis, name, value)."""
    points: dict[float, dict[str, float]] = {}
    for at, name, value in found:
        points.setdefault(at, {axis: at})[name] = value
    return [points[at] for at in sorted(points)]


def table(rows: Sequence[dict]) -> list[list[Any]]:
    """Returns the rows that have a length, as lines of COLUMNS."""
    return [[row.get(column) for column in COLUMNS] for row in rows if _plain(row)]


def _plain(row: dict) -> bool:
    """True if a row has a length and no coordinate beyond protocol and depth."""
    further = (row.get("axis") or None, row.get("layer"), row.get("head"))
    return row.get("length") is not None and further == (None, None, None)


def _measured(task: str, rows: Sequence[dict]) -> Iterator[tuple[str, dict, float]]:
    """Yields (name, row, value) of rows with a length and a value."""
    for row in rows:
        if _plain(row) and row.get("value") is not None:
            place, value = f"{task}/{row.get('protocol') or ''}", row["value"]
            yield f"{place}/{row['metric']}", row, value
            if row["metric"] == "nll":
                yield f"{place}/perplexity", row, math.exp(min(value, 700.0))
