"""The one schema of results: one row per measured number, coordinates in columns, one CSV per (run,
extension, task).

Per-item scores (one per document or trial) lie beside the rows under `items/` and serve paired
comparisons.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from extrap.results import csv_table as sheet
from extrap.results.csv_table import REAL, TEXT, WHOLE, Damaged
from extrap.results.places import having, place
from extrap.utils import versions as schema
from extrap.utils.errors import UserError, escaped

SCHEMA = {
    "run": TEXT,
    "study": TEXT,
    "scheme": TEXT,
    "data": TEXT,
    "extension": TEXT,
    "factor": REAL,
    "seed": WHOLE,
    "train_length": WHOLE,
    "task": TEXT,
    "protocol": TEXT,
    "length": WHOLE,
    "depth": REAL,
    "axis": TEXT,
    "at": REAL,
    "layer": WHOLE,
    "head": WHOLE,
    "metric": TEXT,
    "value": REAL,
    "low": REAL,
    "high": REAL,
    "n": WHOLE,
    "tokens": WHOLE,
    "status": TEXT,
    "params": WHOLE,
    "corpus": TEXT,
    "config": TEXT,
    "commit": TEXT,
}
ITEM_SCHEMA = {
    "protocol": TEXT,
    "length": WHOLE,
    "depth": REAL,
    "metric": TEXT,
    "item": TEXT,
    "value": REAL,
}
COLUMNS = tuple(SCHEMA)
COORDINATES = COLUMNS[: COLUMNS.index("metric")]
KEY = (*COORDINATES, "metric")
MEASURED = {
    name: SCHEMA[name] for name in COLUMNS[COLUMNS.index("protocol") : COLUMNS.index("params")]
}
"""The columns that a task fills; the others say which run it measured."""
ITEM_KEY = ("protocol", "length", "depth", "metric", "item")
REQUIRED = (
    "run",
    "study",
    "scheme",
    "data",
    "extension",
    "seed",
    "train_length",
    "task",
    "metric",
    "config",
)
STATUSES = ("ok", "not trained", "diverged")
AGAIN = "delete this file and evaluate its run again"


def write(path: Path | str, rows: Iterable[Mapping]) -> str:
    """Write rows (dicts; missing keys stay empty) as CSV, columns in schema order, rows in the
    order of their coordinates.

    The same set of rows is the same file, byte for byte; numbers read back to the same float.
    Returns the SHA-256 of the file. Raises ValueError for an unknown column, a wrong type, an
    unknown status or repeated coordinates.
    """
    return sheet.write(path, SCHEMA, rows, KEY, _check)


def check_measured(rows: Iterable[Mapping]) -> None:
    """Raises ValueError for the first row of a task that `write` would not take."""
    key = tuple(name for name in KEY if name in MEASURED)
    sheet.encoded(MEASURED, rows, key, _check_measured)


def read(study: Path | str) -> pd.DataFrame:
    """All rows of `<study>/rows/*.csv`: text as str (empty where missing), whole numbers as Int64,
    numbers as float64.

    Raises UserError, naming file and line, for a damaged file, a wrong type, an unknown status,
    repeated coordinates, and rows of another version.
    """
    return read_files(files(study))


def files(study: Path | str) -> list[Path]:
    """`<study>/rows/*.csv`. Raises UserError where there is none, and for rows of another
    version.
    """
    found = sorted((Path(study) / "rows").glob("*.csv"))
    if not found:
        raise UserError(
            study,
            problem="no rows here (no rows/*.csv)",
            remedy="evaluate a run of this study first",
        )
    schema.check_rows(Path(study))
    return found


def read_files(files: Iterable[Path]) -> pd.DataFrame:
    """The rows in some files of a study, one after the other, as `read` has them. Raises UserError
    as that does.
    """
    records, places = [], {}
    for file in files:
        for line, record in sheet.read(file, SCHEMA, _check, AGAIN):
            key = tuple(record[name] for name in KEY)
            if key in places:
                raise UserError(
                    f"{file}:{line}",
                    problem=f"the same coordinates and metric as {places[key]}",
                    remedy="delete the file that is out of date",
                )
            places[key] = f"{file}:{line}"
            records.append(record)
    return sheet.frame(records, SCHEMA)


def records(files: Iterable[Path]) -> list[dict]:
    """The rows in single files as dicts, None where a value is missing. Raises UserError, naming
    file and line, for a damaged one.
    """
    return [record for file in files for _, record in sheet.read(file, SCHEMA, _check, AGAIN)]


def frame(records: list[dict]) -> pd.DataFrame:
    """Rows as `read` gives them."""
    return sheet.frame(records, SCHEMA)


def as_read(rows: Iterable[Mapping]) -> pd.DataFrame:
    """Rows of one evaluation as `read` gives them after `write`, without a file. Raises ValueError
    as `write`.
    """
    return _as_read(SCHEMA, rows, KEY, _check)


def items_as_read(items: Iterable[Mapping]) -> pd.DataFrame:
    """The same of per-item scores, for `write_items` and `read_items`."""
    return _as_read(ITEM_SCHEMA, items, ITEM_KEY, _check_item)


def _as_read(schema: Mapping, rows: Iterable[Mapping], key: tuple, check) -> pd.DataFrame:
    text = sheet.encoded(schema, rows, key, check).decode()
    found = sheet.parsed(text, Path("rows"), schema, check, AGAIN)
    return sheet.frame([record for _, record in found], schema)


def write_items(path: Path | str, items: Iterable[Mapping]) -> str:
    """Write per-item scores (protocol, length, depth, metric, item, value) as CSV. Returns the
    SHA-256 of the file.
    """
    return sheet.write(path, ITEM_SCHEMA, items, ITEM_KEY, _check_item)


def read_items(path: Path | str) -> pd.DataFrame:
    """The per-item scores of one file. Raises UserError, naming file and line, for a
    damaged one.
    """
    return sheet.frame(
        [record for _, record in sheet.read(Path(path), ITEM_SCHEMA, _check_item, AGAIN)],
        ITEM_SCHEMA,
    )


def studies(results: Path | str) -> list[str]:
    """Names of the studies under a results folder, i.e. of the folders in it that hold rows."""
    return sorted({folder.name for folder in having(Path(results), "rows/*.csv")})


def open_study(results: Path | str, study: str) -> pd.DataFrame:
    """The rows of a study by name. Raises UserError for an unknown one, listing what exists, and
    for one that has none yet.
    """
    rows = read(folder(results, study))
    if rows.empty:
        raise no_rows(study)
    return rows


def folder(results: Path | str, study: str) -> Path:
    """Of a study by name. Raises UserError for an unknown one, listing what exists."""
    known = studies(results)
    if study not in known:
        listed = (
            f"studies there: {', '.join(known)}"
            if known
            else "none is there yet; train and evaluate one with `extrap`"
        )
        raise UserError("STUDY", escaped(study), f"no such study in {results}", listed)
    return place(Path(results), study)


def no_rows(study: str) -> UserError:
    """Returns the error about a study that nothing was measured of."""
    remedy = f"`extrap status {study}` tells what is left to run"
    return UserError("STUDY", study, "no rows yet", remedy)


def comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, unchanged. Raises UserError when they were measured on different corpora, whose
    losses cannot be compared, or seeds of one model with different options of a task.
    """
    runs = rows[rows["corpus"] != ""].groupby("corpus")["run"].min()
    if len(runs) > 1:
        named = ", ".join(f"{corpus} ({run})" for corpus, run in runs.items())
        raise UserError(
            "corpus",
            named,
            "a figure or a table cannot mix rows of different corpora",
            "give each corpus a study of its own",
        )
    asked = rows[["run", "seed", "extension", "factor", "task", "config"]].drop_duplicates()
    names = zip(asked["run"], asked["seed"], strict=True)
    asked["model"] = [run.removesuffix(f"-s{seed}") for run, seed in names]
    one = asked.groupby(["run", "extension", "task", "config"])["factor"]
    asked["set_for"] = asked["factor"].fillna(1.0).mask(one.transform("nunique").gt(1), 0.0)
    for (*_, task), part in asked.groupby(["model", "extension", "set_for", "task"]):
        own = part.groupby("run")["config"].agg(set)
        if others := [run for run in own.index if own.iloc[0].isdisjoint(own[run])]:
            raise UserError(
                f"task.{task}",
                problem=f"{own.index[0]} and {others[0]} were measured with different options",
                remedy="evaluate both with the same ones, or give one a study of its own",
            )
    return rows


def _check(row: dict) -> None:
    for name in REQUIRED:
        if row[name] in ("", None):
            raise Damaged(f"{name} is empty")
    _check_measured(row)


def _check_measured(row: dict) -> None:
    if row["status"] not in STATUSES:
        raise Damaged(f"status: {row['status']!r} is none of {', '.join(STATUSES)}")
    if row["metric"] == "":
        raise Damaged("metric is empty")
    if row["value"] is None and row["status"] != "diverged":
        raise Damaged("value is empty, which only a diverged run may leave")
    if None not in (row["low"], row["high"]) and row["low"] > row["high"]:
        raise Damaged(f"low {row['low']} lies above high {row['high']}")


def _check_item(row: dict) -> None:
    if row["item"] == "" or row["value"] is None:
        raise Damaged("item or value is empty")
