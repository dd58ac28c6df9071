"""The one schema of results: one row per measured number, coordinates in columns, one CSV per (run, extension, task).

`write` and `read` check the same things, so that a file that was written can be read and a damaged one is named with its line.
Per-item scores (one per document or trial) lie beside the rows under `items/` and serve paired comparisons.
"""

import csv
import hashlib
import io
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from extrap.errors import UserError

TEXT, WHOLE, REAL = "text", "whole number", "number"
SCHEMA = {
    "run": TEXT, "study": TEXT, "scheme": TEXT, "data": TEXT, "extension": TEXT, "factor": REAL, "seed": WHOLE, "train_length": WHOLE,
    "task": TEXT, "protocol": TEXT, "length": WHOLE, "depth": REAL, "axis": TEXT, "at": REAL, "layer": WHOLE, "head": WHOLE,
    "metric": TEXT, "value": REAL, "low": REAL, "high": REAL, "n": WHOLE, "tokens": WHOLE, "status": TEXT, "params": WHOLE,
    "corpus": TEXT, "config": TEXT, "commit": TEXT,
}  # fmt: skip
ITEM_SCHEMA = {"protocol": TEXT, "length": WHOLE, "depth": REAL, "metric": TEXT, "item": TEXT, "value": REAL}
COLUMNS = tuple(SCHEMA)
COORDINATES = COLUMNS[: COLUMNS.index("metric")]
ITEM_COLUMNS = tuple(ITEM_SCHEMA)
REQUIRED = ("run", "study", "scheme", "data", "extension", "seed", "train_length", "task", "metric", "status", "config")
STATUSES = ("ok", "not trained", "diverged")
AGAIN = "delete this file and evaluate its run again"


def write(path: Path | str, rows: Iterable[Mapping]) -> str:
    """Write rows (dicts, missing keys stay empty) as CSV and return the SHA-256 of the file.

    Columns stand in schema order, rows in the order of their coordinates, numbers in the shortest form that reads back to the same
    float: the same set of rows is the same file. Raises ValueError for an unknown column, a wrong type or a repeated coordinate.
    """
    return _write(path, SCHEMA, rows, lambda row: tuple(row[name] for name in (*COORDINATES, "metric")))


def read(study: Path | str) -> pd.DataFrame:
    """All rows of `<study>/rows/*.csv`: text as str (empty where missing), whole numbers as Int64, numbers as float64.

    Raises UserError, naming file and line, for a damaged file, a wrong type, an unknown status or a repeated coordinate.
    """
    files = sorted((Path(study) / "rows").glob("*.csv"))
    if not files:
        raise UserError(f"{study}: no rows here (no rows/*.csv); evaluate a run of this study first")
    records, places = [], []
    for file in files:
        for line, record in _records(file, SCHEMA):
            records.append(record)
            places.append(f"{file}:{line}")
    frame = _frame(records, SCHEMA)
    key = frame[[*COORDINATES, "metric"]]
    if key.duplicated().any():
        second = int(np.flatnonzero(key.duplicated())[0])
        first = int(np.flatnonzero((key.fillna(-1) == key.iloc[[second]].fillna(-1).iloc[0]).all(axis=1))[0])
        raise UserError(f"{places[second]}: the same coordinates and metric as {places[first]}; delete one of the two files")
    return frame


def write_items(path: Path | str, items: Iterable[Mapping]) -> str:
    """Write per-item scores (protocol, length, depth, metric, item, value) as CSV and return the SHA-256 of the file."""
    return _write(path, ITEM_SCHEMA, items, lambda row: tuple(row[name] for name in ITEM_COLUMNS[:-1]))


def read_items(path: Path | str) -> pd.DataFrame:
    """The per-item scores of one file. Raises UserError, naming file and line, for a damaged file."""
    return _frame([record for _, record in _records(Path(path), ITEM_SCHEMA)], ITEM_SCHEMA)


def studies(results: Path | str) -> list[str]:
    """Names of the studies under a results folder, i.e. of its folders that hold rows."""
    return sorted({file.parent.parent.name for file in Path(results).glob("*/rows/*.csv")})


def open_study(results: Path | str, study: str) -> pd.DataFrame:
    """The rows of a study by name. Raises UserError, listing what exists, for an unknown one."""
    known = studies(results)
    if study not in known:
        listed = f"studies here: {', '.join(known)}" if known else f"no study here yet; `extrap study={study}` makes one"
        raise UserError(f"STUDY={study}: no such study in {results}; {listed}")
    return read(Path(results) / study)


def one_corpus(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, unchanged. Raises UserError when they were measured on different corpora, whose losses cannot be compared."""
    runs = rows[rows["corpus"] != ""].groupby("corpus")["run"].min()
    if len(runs) > 1:
        named = ", ".join(f"{corpus} ({run})" for corpus, run in runs.items())
        raise UserError(f"corpus={named}: rows of different corpora cannot share a figure; give each corpus a study of its own")
    return rows


def _write(path, schema, rows, key) -> str:
    path = Path(path)
    cells, seen = [], set()
    for row in rows:
        if unknown := set(row) - set(schema):
            raise ValueError(f"{path.name}: unknown column {min(unknown)}; columns are {', '.join(schema)}")
        record = {name: _parse(_cell(row.get(name), kind), kind) for name, kind in schema.items()}
        if fault := _fault(record):
            raise ValueError(f"{path.name}: {fault} in {dict(row)}")
        if key(record) in seen:
            raise ValueError(f"{path.name}: repeated coordinates {key(record)}")
        seen.add(key(record))
        order = tuple((value is not None, value) for value in key(record))
        cells.append((order, [_cell(record[name], kind) for name, kind in schema.items()]))
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(schema)
    writer.writerows(line for _, line in sorted(cells, key=lambda pair: pair[0]))
    content = out.getvalue().encode()
    replace(path, content)
    return hashlib.sha256(content).hexdigest()


def replace(path: Path, content: bytes) -> None:
    """Put a file in place at once: a reader sees the old content or the new one, never half of it, also after a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _records(file: Path, schema):
    """(line number, {column: value}) of a CSV, checked."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: cannot be read as text ({type(error).__name__}); {AGAIN}") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        if header != list(schema):
            wrong = [name for name in header if name not in schema] + [name for name in schema if name not in header]
            raise _Damaged(f"wrong header ({wrong[0] if wrong else 'order of columns'}); columns are {','.join(schema)}")
        for cells in reader:
            if len(cells) != len(schema):
                raise _Damaged(f"{len(cells)} fields instead of {len(schema)}")
            record = {name: _parse(cell, kind) for cell, (name, kind) in zip(cells, schema.items(), strict=True)}
            if fault := _fault(record):
                raise _Damaged(fault)
            yield reader.line_num, record
        if not text.endswith("\n"):
            raise _Damaged("the last line is cut off")
    except (_Damaged, csv.Error) as error:
        raise UserError(f"{file}:{max(reader.line_num, 1)}: {error}; {AGAIN}") from None


class _Damaged(Exception):
    """What is wrong with one line of a CSV."""


def _cell(value, kind) -> str:
    if value is None or value is pd.NA or (isinstance(value, float | np.floating) and math.isnan(value)):
        return ""
    if kind is TEXT or isinstance(value, str):
        return str(value)
    if kind is WHOLE and float(value).is_integer():
        return str(int(value))
    return repr(float(value))


def _parse(cell: str, kind):
    if cell == "":
        return "" if kind is TEXT else None
    if kind is TEXT:
        return cell
    try:
        return int(cell) if kind is WHOLE else float(cell)
    except ValueError:
        return _Damaged(f"{cell!r} is not a {kind}")


def _fault(record) -> str:
    """What is wrong with one parsed row, or nothing."""
    for name, value in record.items():
        if isinstance(value, _Damaged):
            return f"{name}: {value}"
        if isinstance(value, str) and not value.isprintable():
            return f"{name}: {value!r} holds characters that cannot be printed"
        if isinstance(value, float) and math.isnan(value):
            return f"{name}: nan is written as an empty field"
    if "status" not in record:
        return "" if record["value"] is not None else "value is empty"
    if record["status"] not in STATUSES:
        return f"status: {record['status']!r} is none of {', '.join(STATUSES)}"
    for name in REQUIRED:
        if record[name] in ("", None):
            return f"{name} is empty"
    if record["value"] is None and record["status"] != "diverged":
        return "value is empty, which only a diverged run may leave"
    if None not in (record["low"], record["high"]) and record["low"] > record["high"]:
        return f"low {record['low']} lies above high {record['high']}"
    return ""


def _frame(records, schema) -> pd.DataFrame:
    kinds = {TEXT: "str", WHOLE: "Int64", REAL: "float64"}
    return pd.DataFrame(records, columns=list(schema)).astype({name: kinds[kind] for name, kind in schema.items()})
