"""Rows as W&B wants them. Rows are dicts with None where a value is missing, all of one run,
extension and task.

train/<part>/<metric>                          history, x = train/step
eval/<task>/<protocol>/<metric>[/depth d]      history, x = eval/length; of every nll also the
                                               perplexity, exp(nll)
depth/<task>/<protocol>/<metric> at <length>   history, x = depth/at: the curve that sags in the
                                               middle
<task>/<protocol>/<metric>[/depth d] at <n>    summary, a scalar for each length
table/<task>                                   table, a line per row
heatmap/<task>/<protocol>                      table, a line per depth and a column per length

Measurements with a further coordinate (axis, layer, head) stay with the rows.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

AXES = {"train/*": "train/step", "eval/*": "eval/length", "depth/*": "depth/at"}
"""The x axis of each kind of history."""

COLUMNS = ["protocol", "length", "depth", "metric", "value", "low", "high", "n", "status"]

Table = tuple[list[str], list[list[Any]]]


def curve(rows: Sequence[dict]) -> list[dict[str, float]]:
    """The training curve, a point per step."""
    points: dict[float, dict[str, float]] = {}
    for row in rows:
        if (
            row.get("task") == "train"
            and row.get("axis") == "step"
            and row.get("value") is not None
        ):
            points.setdefault(row["at"], {"train/step": row["at"]})[
                f"train/{row['protocol']}/{row['metric']}"
            ] = row["value"]
    return [points[step] for step in sorted(points)]


def by_length(task: str, rows: Sequence[dict]) -> list[dict[str, float]]:
    points: dict[int, dict[str, float]] = {}
    for name, row, value in _measured(task, rows):
        depth = "" if row.get("depth") is None else f"/depth {row['depth']:g}"
        points.setdefault(row["length"], {"eval/length": row["length"]})[f"eval/{name}{depth}"] = (
            value
        )
    return [points[length] for length in sorted(points)]


def by_depth(task: str, rows: Sequence[dict]) -> list[dict[str, float]]:
    points: dict[float, dict[str, float]] = {}
    for name, row, value in _measured(task, rows):
        if row.get("depth") is not None:
            points.setdefault(row["depth"], {"depth/at": row["depth"]})[
                f"depth/{name} at {row['length']}"
            ] = value
    return [points[depth] for depth in sorted(points)]


def summary(task: str, rows: Sequence[dict]) -> dict[str, float]:
    return {
        f"{name} at {point['eval/length']}".removeprefix("eval/"): value
        for point in by_length(task, rows)
        for name, value in point.items()
        if name != "eval/length"
    }


def passed(rows: Sequence[dict]) -> bool:
    """True if the run learned the task: no protocol lies below its gate."""
    return all(row["status"] == "ok" for row in rows)


def tables(task: str, rows: Sequence[dict]) -> dict[str, Table]:
    plain = [row for row in rows if _plain(row)]
    found = (
        {f"table/{task}": (COLUMNS, [[row.get(column) for column in COLUMNS] for row in plain])}
        if plain
        else {}
    )
    return found | {
        f"heatmap/{task}/{protocol}": table for protocol, table in heatmaps(plain).items()
    }


def heatmaps(rows: Sequence[dict]) -> dict[str, Table]:
    """Accuracy by depth and length, a table per protocol; None where it was not measured."""
    cells: dict[str, dict[tuple[float, int], float]] = {}
    for row in rows:
        if row["metric"] == "accuracy" and row.get("depth") is not None:
            cells.setdefault(row.get("protocol") or "", {})[row["depth"], row["length"]] = row[
                "value"
            ]
    return {protocol: _grid(measured) for protocol, measured in cells.items()}


def _grid(measured: dict[tuple[float, int], float]) -> Table:
    depths, lengths = (sorted({key[i] for key in measured}) for i in (0, 1))
    return ["depth", *map(str, lengths)], [
        [depth, *(measured.get((depth, length)) for length in lengths)] for depth in depths
    ]


def _plain(row: dict) -> bool:
    """Whether a row is about a length and has no coordinate beyond protocol and depth."""
    further = (row.get("axis") or None, row.get("layer"), row.get("head"))
    return row.get("length") is not None and further == (None, None, None)


def _measured(task: str, rows: Sequence[dict]) -> Iterator[tuple[str, dict, float]]:
    """(name, row, value) of what has a length and a value."""
    for row in rows:
        if _plain(row) and row.get("value") is not None:
            name = f"{task}/{row.get('protocol') or ''}/{row['metric']}"
            yield name, row, row["value"]
            if row["metric"] == "nll":
                yield (
                    name.removesuffix("nll") + "perplexity",
                    row,
                    math.exp(min(row["value"], 700.0)),
                )
