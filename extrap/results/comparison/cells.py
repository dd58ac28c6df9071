"""What can be compared of a study: one value per cell and seed from rows, and one per item behind
it where items are at hand.

A cell is (task, protocol, length, metric): a loss, an accuracy over depths, a summary of a curve
over depths. Its value is the score of extrap.results.cells, and the seeds that count there count
here.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from extrap.results import rows
from extrap.results.cells import cells, counted
from extrap.results.places import LOOSE_ITEMS, PACKED_ITEMS
from extrap.results.series import Series, whole
from extrap.results.sheets import Sheet
from extrap.results.stats.intervals import depth_contrasts
from extrap.utils.errors import UserError

SUMMARIES = ("primacy", "recency", "u_depth", "tilt")
COMPARED = ("nll", "accuracy", "restricted", "format", "substring", "recall", "all", "gain")
COMPARED += ("k_max", *SUMMARIES)
WHOLE = {"nll_sum": "nll", "correct": "accuracy"}
"""Items that are sums over the scored tokens of a document, and the metric that they make over
`tokens`.
"""
DRAWN = "drawn"
"""The item that is a digest of what was read and asked."""


class Cell(NamedTuple):
    task: str
    protocol: str
    length: int
    metric: str

    def __str__(self) -> str:
        return " ".join(str(part) for part in self if part not in ("", 0))


class Items(NamedTuple):
    """The scores of items of one cell of one run.

    Args:
        ids: (items,)
        sums, counts: (items,)
        drawn: digests of its questions by depth, None in older files
    """

    ids: pd.Index
    sums: np.ndarray
    counts: np.ndarray
    drawn: tuple[float, ...] | None = None


def opened(study: Path) -> list[Series]:
    """Returns the series of a study, below the gate or not: `mark` holds the status of a row,
    `sheet` the name of its file. Raises UserError for a damaged file.
    """
    return whole(rows.read_with_sheets(study))


def measured(found: Series) -> dict[Cell, dict[int, float]]:
    """Returns {cell: {seed: score}} of a series of `whole`, of the seeds that count; the length is
    0 where rows have none.
    """
    scores = counted(cells(found.rows, COMPARED))
    scores = scores.assign(length=scores["length"].fillna(0))
    out: dict[Cell, dict[int, float]] = {}
    means = scores.groupby([*Cell._fields, "seed"])["value"].mean()
    for place, value in zip(means.index, means, strict=True):
        task, protocol, length, metric, seed = place
        cell = Cell(task, protocol, int(length), metric)
        by_seed = out.setdefault(cell, {})
        by_seed[int(seed)] = float(value)
    return out


Scores = Callable[[str], tuple[Path, pd.DataFrame | None]]
"""The items behind a file of rows by the stem of its name: where they are, and a table, None where
they are missing.
"""


def on_disk(study: Path) -> Scores:
    """The items in the folder of a study: in the file of a job beside its rows, else packed, else
    in a file alone.
    """

    def scores(stem: str) -> tuple[Path, pd.DataFrame | None]:
        sheet = Sheet(study, stem)
        path = study / LOOSE_ITEMS / f"{stem}.csv"
        packed = study / PACKED_ITEMS
        if packed.exists() and not (path.exists() and sheet.path.is_file()):
            from extrap.results import packed_items  # imports pyarrow

            found = packed_items.scores(sheet)
            if found is not None:
                return packed, found
        return path, rows.read_items(path) if path.exists() else None

    return scores


def items(
    scores_of: Scores, found: Series, values: dict[Cell, dict[int, float]] | None = None
) -> tuple[dict[Cell, dict[int, Items]], list[str]]:
    """({cell: {seed: its items}}, tasks whose items are missing). values: what `measured` returns
    of the series. Raises UserError for items that differ from the rows.
    """
    values = measured(found) if values is None else values
    tasks = {cell.task for cell in values}
    out = {}
    lacking = set()
    key: tuple[Any, ...]
    for key, _ in found.rows.groupby(["sheet", "task", "seed"]):
        sheet, task, seed = key
        if task not in tasks:
            continue
        path, table = scores_of(sheet)
        if table is None:
            lacking.add(task)
            continue
        for cell, scores in _cells(task, table).items():
            value = values.get(cell, {}).get(seed)
            if value is None:
                continue
            mean = scores.sums.sum() / scores.counts.sum()
            if not np.isclose(mean, value, rtol=1e-6, atol=1e-6):
                problem = f"does not belong to the rows beside it ({cell})"
                remedy = "delete both files and evaluate the run again"
                raise UserError(path, problem=problem, remedy=remedy)
            out.setdefault(cell, {})[int(seed)] = scores
    return out, sorted(lacking)


def _cells(task: str, scores: pd.DataFrame) -> dict[Cell, Items]:
    place = ["protocol", "length"]
    out = {}
    scores = scores.assign(length=scores["length"].fillna(0))
    drawn = scores["metric"] == DRAWN
    checksums = scores[drawn].sort_values(["depth", "item"])
    digests = checksums.groupby(place)["value"].agg(tuple)
    single = scores[(scores["item"] != "all") & ~drawn]
    key: tuple[Any, ...]
    for key, part in single.groupby(place):
        protocol, length = key
        at = (task, protocol, int(length))
        digest = digests.get(key)
        by_metric = _by_metric(part[part["depth"].isna()])
        for metric in by_metric.columns.drop("tokens", errors="ignore"):
            values = by_metric[metric].dropna()
            counts = values * 0 + 1
            if metric in WHOLE:
                counts = by_metric.loc[values.index, "tokens"]
            cell = Cell(*at, WHOLE.get(metric, metric))
            out[cell] = Items(values.index, values.to_numpy(), counts.to_numpy(), digest)
        at_depths = part[part["depth"].notna()]
        for metric, curve in at_depths.groupby("metric"):
            table = curve.pivot(index="item", columns="depth", values="value")
            ones = np.ones(len(table))
            for name, values in _curves(str(metric), table).items():
                out[Cell(*at, name)] = Items(table.index, values, ones, digest)
    return out


def _by_metric(plain: pd.DataFrame) -> pd.DataFrame:
    """Returns scores without a depth: a row for each item, a column for each metric."""
    if plain.empty:
        return pd.DataFrame()
    # items named place:trial, as by kv-serial, become means over places: they share a context
    named = plain.assign(item=plain["item"].str.rpartition(":")[2])
    return named.pivot_table(index="item", columns="metric", values="value")


def _curves(metric: str, table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Returns the mean over depths of each trial and, of accuracies at depths that allow it, its
    summaries.
    """
    values = table.to_numpy()
    found = {metric: values.mean(1)}
    if metric == "accuracy":
        with suppress(ValueError):
            contrasts = depth_contrasts(table.columns)
            found |= {name: values @ contrasts[name] for name in SUMMARIES}
    return found
