"""Rows as W&B wants them. Rows are dicts with None where a value is missing, all of one run,
extension and task.

train/<part>/<metric>                          history, x = train/step
eval/<task>/<protocol>/<metric>[/depth d]      history, x = eval/length; of every nll also the
                                               perplexity, exp(nll)
depth/<task>/<protocol>/<metric> at <length>   history, x = depth/at: the curve that sags in the
                                               middle
<task>/<protocol>/<metric>[/depth d] at <n>    summary, a scalar for each length
table/<task>                                   table, a line per row

Measurements with a further coordinate (axis, layer, head) stay with the rows.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

AXES = {"train/*": "train/step", "eval/*": "eval/length", "depth/*": "depth/at"}
"""The x axis of each kind of history."""

COLUMNS = ["protocol", "length", "depth", "metric", "value", "low", "high", "n", "status"]


def curve(rows: Sequence[dict]) -> list[dict[str, float]]:
    """Returns the training curve, a point per step."""
    points = Points("train/step")
    for row in rows:
        named = row.get("task") == "train" and row.get("axis") == "step"
        if named and row.get("value") is not None:
            points.add(row["at"], f"train/{row['protocol']}/{row['metric']}", row["value"])
    return points.sorted()


def by_length(task: str, rows: Sequence[dict]) -> list[dict[str, float]]:
    """Returns the scores of a task, a point per length."""
    points = Points("eval/length")
    for name, row, value in _measured(task, rows):
        depth = "" if row.get("depth") is None else f"/depth {row['depth']:g}"
        points.add(row["length"], f"eval/{name}{depth}", value)
    return points.sorted()


def by_depth(task: str, rows: Sequence[dict]) -> list[dict[str, float]]:
    """Returns the scores of a task, a point per depth."""
    points = Points("depth/at")
    for name, row, value in _measured(task, rows):
        if row.get("depth") is not None:
            points.add(row["depth"], f"depth/{name} at {row['length']}", value)
    return points.sorted()


class Points(dict[float, dict[str, float]]):
    """Points of a history by their place on the axis."""

    def __init__(self, axis: str):
        self.axis = axis

    def add(self, at: float, name: str, value: float) -> None:
        self.setdefault(at, {self.axis: at})[name] = value

    def sorted(self) -> list[dict[str, float]]:
        return [self[at] for at in sorted(self)]


def summary(task: str, rows: Sequence[dict]) -> dict[str, float]:
    """Returns a scalar for each score and length."""
    return {
        f"{name} at {point['eval/length']}".removeprefix("eval/"): value
        for point in by_length(task, rows)
        for name, value in point.items()
        if name != "eval/length"
    }


def passed(rows: Sequence[dict]) -> bool:
    """True if the run learned the task: no protocol lies below its gate."""
    return all(row["status"] == "ok" for row in rows)


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
            name, value = f"{task}/{row.get('protocol') or ''}/{row['metric']}", row["value"]
            yield name, row, value
            if row["metric"] == "nll":
                name = name.removesuffix("nll") + "perplexity"
                yield name, row, math.exp(min(value, 700.0))
