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
from typing import Any, NamedTuple

LENGTH = "eval/length"
AXES = {"train/*": "train/step", "eval/*": LENGTH, "depth/*": "depth/at"}
"""The x axis of each kind of history."""

COLUMNS = ["protocol", "length", "depth", "metric", "value", "low", "high", "n", "status"]


class Logged(NamedTuple):
    """A value of a task as a dashboard logs it.

    Args:
        name: task, protocol and metric
        depth: of the record that was asked for; None: the mean over depths, or no record
    """

    name: str
    length: int
    depth: float | None
    value: float

    @property
    def full_name(self) -> str:
        return self.name if self.depth is None else f"{self.name}/depth {self.depth:g}"


def curve(rows: Sequence[dict]) -> list[dict[str, float]]:
    """Returns the training curve, a point per step."""
    found = []
    for row in rows:
        if row.get("task") == "train" and row.get("axis") == "step" and row["value"] is not None:
            name = f"train/{row['protocol']}/{row['metric']}"
            found.append((row["at"], name, row["value"]))
    return _points("train/step", found)


def by_length(task: str, rows: Sequence[dict]) -> list[dict[str, float]]:
    """Returns the scores of a task, a point per length."""
    found = [(s.length, f"eval/{s.full_name}", s.value) for s in _scores(task, rows)]
    return _points(LENGTH, found)


def by_depth(task: str, rows: Sequence[dict]) -> list[dict[str, float]]:
    """Returns the scores of a task, a point per depth."""
    at_depths = [s for s in _scores(task, rows) if s.depth is not None]
    found = [(s.depth, f"depth/{s.name} at {s.length}", s.value) for s in at_depths]
    return _points("depth/at", found)


def summary(task: str, rows: Sequence[dict]) -> dict[str, float]:
    """Returns a scalar for each score and length."""
    return {f"{s.full_name} at {s.length}": s.value for s in _scores(task, rows)}


def _points(axis: str, found: Iterable[tuple[float, str, float]]) -> list[dict[str, float]]:
    """Returns points of a history from (place on the axis, name, value)."""
    points: dict[float, dict[str, float]] = {}
    for at, name, value in found:
        points.setdefault(at, {axis: at})[name] = value
    return [points[at] for at in sorted(points)]


def table(rows: Sequence[dict]) -> list[list[Any]]:
    """Returns the rows that have a length, as lines of COLUMNS."""
    plain = [row for row in rows if _plain(row)]
    return [list(map(row.get, COLUMNS)) for row in plain]


def _plain(row: dict) -> bool:
    """True if a row has a length and no coordinate beyond protocol and depth."""
    further = (row.get("axis") or None, row.get("layer"), row.get("head"))
    return row.get("length") is not None and further == (None, None, None)


def _scores(task: str, rows: Sequence[dict]) -> Iterator[Logged]:
    """Yields the scores of rows with a length and a value."""
    for row in rows:
        if not _plain(row) or row.get("value") is None:
            continue
        place = f"{task}/{row.get('protocol') or ''}"
        score = Logged(f"{place}/{row['metric']}", row["length"], row.get("depth"), row["value"])
        yield score
        if row["metric"] == "nll":
            perplexity = math.exp(min(score.value, 700.0))
            yield score._replace(name=f"{place}/perplexity", value=perplexity)
