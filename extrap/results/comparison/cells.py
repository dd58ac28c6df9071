"""What can be compared of a study: one value per cell and seed from rows, and one per item behind
it where items are at hand.

A cell is (task, protocol, length, metric): a loss, an accuracy over depths, a summary of a curve
over depths.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from extrap.results import rows
from extrap.results.series import Series, judged, series
from extrap.results.stats.intervals import depth_contrasts
from extrap.utils.errors import UserError

SUMMARIES = ("primacy", "recency", "u_depth", "tilt")
COMPARED = (
    "nll",
    "accuracy",
    "restricted",
    "format",
    "substring",
    "recall",
    "all",
    "gain",
    "k_max",
    *SUMMARIES,
)
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
    """ids (items,), sums and counts (items,) of one cell of one run; drawn: digests of its
    questions by depth, None in older files.
    """

    ids: pd.Index
    sums: np.ndarray
    counts: np.ndarray
    drawn: tuple[float, ...] | None = None


SCANNED = ("run", "scheme", "data", "extension", "factor", "seed", "train_length", "task")
SCANNED += ("protocol", "status", "corpus", "config", "commit")
"""Columns that the names of series and their status rest on."""


def scanned(study: Path) -> list[Series]:
    """The series of a study whatever they came to, as far as a quick look at some columns tells:
    `mark` holds the status of a row, `file` the stem of its file, `line` its number there. Raises
    UserError for a file that is no table.
    """
    together = pd.concat(map(_scanned, rows.files(study)), ignore_index=True)
    return series(together.assign(mark=judged(together), status="ok", value=0.0))


def _scanned(path: Path) -> pd.DataFrame:
    types = dict.fromkeys(SCANNED, str) | {"factor": float, "seed": int, "train_length": int}
    try:
        found = pd.read_csv(path, usecols=list(SCANNED), dtype=types, na_values={"factor": [""]},
                            keep_default_na=False)  # fmt: skip
    except (OSError, ValueError, OverflowError):  # what is wrong is told by whoever reads it whole
        found = rows.read_files([path])[list(SCANNED)]
    if (found["commit"] == "").any():  # pandas takes a line that is cut short for a whole one
        found = rows.read_files([path])[list(SCANNED)]
    return found.assign(file=path.stem, line=range(len(found)))


def opened(study: Path, chosen: list[Series]) -> list[Series]:
    """These series with all their columns; no file is read whole that holds none of them. Raises
    UserError for a damaged one.
    """
    stems = sorted({stem for one in chosen for stem in one.rows["file"]})
    paths = [study / "rows" / f"{stem}.csv" for stem in stems]
    parts = [rows.read_files([path]).assign(file=path.stem) for path in paths]
    whole = pd.concat([part.assign(line=range(len(part))) for part in parts])
    whole = whole.set_index(["file", "line"], drop=False)
    return [
        replace(one, rows=whole.loc[list(zip(one.rows["file"], one.rows["line"], strict=True))]
                .assign(mark=one.rows["mark"].to_numpy(), status="ok").reset_index(drop=True))
        for one in chosen
    ]  # fmt: skip


def measured(found: Series) -> dict[Cell, dict[int, float]]:
    """{cell: {seed: value}} of a series: the number of a whole text where there is one, else the
    mean over depths or indices of records.

    Curves along another axis are no cells.
    """
    rows = found.rows
    kept = rows[
        rows["metric"].isin(COMPARED)
        & rows["value"].notna()
        & rows["layer"].isna()
        & (rows["task"] != "train")
    ]
    out: dict[Cell, dict[int, float]] = {}
    for (*at, seed), group in kept.assign(length=kept["length"].fillna(0)).groupby(
        ["task", "protocol", "length", "metric", "seed"]
    ):
        task, protocol, length, metric = at
        at_depth = group["depth"].notna()
        for part in (group[~at_depth & (group["axis"] == "")], group[at_depth], group):
            if len(part):
                break
        if len(part) > 1 and part["depth"].isna().all() and set(part["axis"]) != {"index"}:
            continue
        out.setdefault(Cell(task, protocol, int(length), metric), {})[int(seed)] = float(
            part["value"].mean()
        )
    return out


Scores = Callable[[str], tuple[Path, pd.DataFrame | None]]
"""The items behind a file of rows by the stem of its name: where they are, and a table, None where
they are missing.
"""


def on_disk(study: Path) -> Scores:
    """The items in the folder of a study."""

    def scores(stem: str) -> tuple[Path, pd.DataFrame | None]:
        path = study / "items" / f"{stem}.csv"
        return path, rows.read_items(path) if path.exists() else None

    return scores


def items(scores_of: Scores, found: Series) -> tuple[dict[Cell, dict[int, Items]], list[str]]:
    """({cell: {seed: its items}}, tasks whose items are missing). Raises UserError for items that
    are not those of the rows.
    """
    values, out, lacking = measured(found), {}, set()
    for (file, task, seed), _ in found.rows.groupby(["file", "task", "seed"]):
        if not any(cell.task == task for cell in values):
            continue
        path, table = scores_of(file)
        if table is None:
            lacking.add(task)
            continue
        for cell, scores in _cells(task, table).items():
            value = values.get(cell, {}).get(seed)
            if value is None:
                continue
            if not np.isclose(scores.sums.sum() / scores.counts.sum(), value, rtol=1e-6, atol=1e-6):
                raise UserError(
                    path,
                    problem=f"does not belong to the rows beside it ({cell})",
                    remedy="delete both files and evaluate the run again",
                )
            out.setdefault(cell, {})[int(seed)] = scores
    return out, sorted(lacking)


def _cells(task: str, scores: pd.DataFrame) -> dict[Cell, Items]:
    out, scores = {}, scores.assign(length=scores["length"].fillna(0))
    digests = (
        scores[scores["metric"] == DRAWN]
        .sort_values(["depth", "item"])
        .groupby(["protocol", "length"])["value"]
        .agg(tuple)
    )
    for (protocol, length), part in scores[
        (scores["item"] != "all") & (scores["metric"] != DRAWN)
    ].groupby(["protocol", "length"]):
        at, drawn = (task, protocol, int(length)), digests.get((protocol, length))
        plain = _trials(part[part["depth"].isna()])
        for metric, column in plain.items():
            values = column.dropna()
            if metric in WHOLE:
                out[Cell(*at, WHOLE[metric])] = Items(
                    values.index,
                    values.to_numpy(),
                    plain.loc[values.index, "tokens"].to_numpy(),
                    drawn,
                )
            elif metric != "tokens":
                out[Cell(*at, metric)] = Items(
                    values.index, values.to_numpy(), np.ones(len(values)), drawn
                )
        for metric, curve in part[part["depth"].notna()].groupby("metric"):
            table = curve.pivot(index="item", columns="depth", values="value")
            for name, values in _curves(metric, table).items():
                out[Cell(*at, name)] = Items(table.index, values, np.ones(len(table)), drawn)
    return out


def _trials(plain: pd.DataFrame) -> pd.DataFrame:
    """(items, metrics) of what has no depth. What is named place:trial, as by kv-serial, is the
    mean over places: they share a context.
    """
    names = plain["item"].str.rpartition(":")[2] if len(plain) else plain["item"]
    return plain.assign(item=names).pivot_table(index="item", columns="metric", values="value")


def _curves(metric: str, table: pd.DataFrame) -> dict[str, np.ndarray]:
    """The mean over depths of each trial and, of accuracies at depths that allow it,
    its summaries.
    """
    values = table.to_numpy()
    found = {metric: values.mean(1)}
    if metric == "accuracy":
        try:
            found |= {
                name: values @ contrast
                for name, contrast in depth_contrasts(table.columns).items()
                if name in SUMMARIES
            }
        except ValueError:
            return found
    return found
