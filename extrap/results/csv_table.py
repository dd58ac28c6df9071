"""A CSV with a schema: typed cells, written at once and the same for the same set of rows, checked
line by line when read.
"""

import csv
import hashlib
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from extrap.utils import files as atomic
from extrap.utils.errors import UserError, escaped

TEXT, WHOLE, REAL = "text", "whole number", "number"
NUMERIC = frozenset("0123456789+-.einfa")
DTYPES = {TEXT: "str", WHOLE: "Int64", REAL: "float64"}


class Damaged(Exception):
    """What is wrong with one line."""


def write(
    path: Path | str,
    schema: Mapping,
    rows: Iterable[Mapping],
    key: tuple,
    check: Callable[[dict], None],
) -> str:
    """Writes rows (dicts; missing keys stay empty) in the order of their key columns; returns the
    SHA-256 of the file. Raises ValueError as `encoded`.
    """
    path = Path(path)
    try:
        content = encoded(schema, rows, key, check)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    atomic.replace(path, content)
    return hashlib.sha256(content).hexdigest()


def encoded(
    schema: Mapping, rows: Iterable[Mapping], key: tuple, check: Callable[[dict], None]
) -> bytes:
    """Returns rows as a file.

    Numbers take the shortest form that reads back to the same float. `check(row)` raises Damaged
    for a row that may not exist. Raises ValueError for an unknown column, a wrong type, a faulty
    row or a repeated key.
    """
    ordered = {}
    for row in rows:
        if unknown := set(row) - set(schema):
            raise ValueError(f"unknown column {min(unknown)}; columns are {', '.join(schema)}")
        try:
            cells = [_cell(row.get(name), kind) for name, kind in schema.items()]
            record = _record(cells, schema)
            check(record)
        except Damaged as error:
            raise ValueError(f"{error} in {dict(row)}") from None
        place = tuple((record[name] is not None, record[name]) for name in key)
        if place in ordered:
            raise ValueError(f"two rows at {[record[name] for name in key]}")
        ordered[place] = cells
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(
        [list(schema), *(ordered[place] for place in sorted(ordered))]
    )
    return out.getvalue().encode()


def read(
    file: Path, schema: Mapping, check: Callable[[dict], None], again: str
) -> Iterator[tuple[int, dict]]:
    """(line number, row) of a file. Raises UserError with file and line for what `write` would not
    write; `again` says what to do.
    """
    if not file.is_file():  # a pipe or a device would be read for ever
        raise UserError(file, problem="not a file", remedy=again)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            file, problem=f"cannot be read as text ({type(error).__name__})", remedy=again
        ) from None
    yield from parsed(text, file, schema, check, again)


def parsed(
    text: str, file: Path, schema: Mapping, check: Callable[[dict], None], again: str
) -> Iterator[tuple[int, dict]]:
    """(line number, row) of the text of a file, as `read` has them."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        if header != list(schema):
            wrong = [name for name in header if name not in schema] + [
                name for name in schema if name not in header
            ]
            raise Damaged(
                f"wrong header ({escaped(wrong[0]) if wrong else 'order of columns'}); columns are "
                f"{','.join(schema)}"
            )
        for cells in reader:
            record = _record(cells, schema)
            check(record)
            yield reader.line_num, record
        if not text.endswith("\n"):
            raise Damaged("the last line is cut off")
    except (Damaged, csv.Error) as error:
        raise UserError(f"{file}:{max(reader.line_num, 1)}", problem=error, remedy=again) from None


def frame(records: list[dict], schema: Mapping) -> pd.DataFrame:
    """Text as str (empty where missing), whole numbers as Int64, numbers as float64."""
    return pd.DataFrame(
        {
            name: pd.array([record[name] for record in records], dtype=DTYPES[kind])
            for name, kind in schema.items()
        }
    )


def _cell(value, kind) -> str:
    if (
        value is None
        or value is pd.NA
        or (isinstance(value, float | np.floating) and math.isnan(value))
    ):
        return ""
    if kind is TEXT:
        return str(value)
    try:
        # str(2.0) would not read back as a whole number, and numpy's repr carries its type.
        return (
            str(int(value)) if kind is WHOLE and float(value).is_integer() else repr(float(value))
        )
    except (TypeError, ValueError, OverflowError):
        raise Damaged(f"{value!r} is not a {kind}") from None


def _record(cells: list[str], schema) -> dict:
    if len(cells) != len(schema):
        raise Damaged(f"{len(cells)} fields instead of {len(schema)}")
    return {
        name: _parse(cell, name, kind)
        for cell, (name, kind) in zip(cells, schema.items(), strict=True)
    }


def _parse(cell: str, name: str, kind):
    if not cell.isprintable():
        raise Damaged(f"{name}: {cell!r:.60} holds unprintable characters")
    if kind is TEXT or cell == "":
        return cell if kind is TEXT else None
    try:
        if (
            not set(cell) <= NUMERIC
        ):  # Python also reads 1_000, spaces and the digits of other scripts
            raise ValueError
        value = int(cell) if kind is WHOLE else float(cell)
    except ValueError:
        raise Damaged(f"{name}: {cell!r:.60} is not a {kind}") from None
    if kind is REAL and math.isnan(value):
        raise Damaged(f"{name}: nan, where a missing number is an empty field")
    if kind is WHOLE and abs(value) >= 2**63:
        raise Damaged(f"{name}: {cell} is too large")
    return value
