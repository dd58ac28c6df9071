"""A CSV with a schema: typed cells, written at once and the same for the same set of rows, checked
line by line when read.
"""

import csv
import hashlib
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from extrap.utils import atomic
from extrap.utils.errors import UserError, escaped
from extrap.utils.untrusted import TABLE as LARGEST

TEXT, WHOLE, REAL = "text", "whole number", "number"
NUMERIC = frozenset("0123456789+-.einfa")
DTYPES: dict[str, Any] = {TEXT: "str", WHOLE: "Int64", REAL: "float64"}
AGAIN = "delete this file and evaluate its run again"


class Damaged(Exception):
    """What is wrong with one line."""


@dataclass(frozen=True)
class Table:
    """Rows of one schema, as files, dicts and frames.

    Args:
        schema: {column: TEXT, WHOLE or REAL}
        key: the columns that no two rows share, by which rows are sorted
        check: called with a row, raises Damaged for one that may not exist
    """

    schema: Mapping[str, str]
    key: tuple[str, ...]
    check: Callable[[dict], None]

    def write(self, path: Path | str, rows: Iterable[Mapping]) -> str:
        """Writes rows (dicts; missing keys stay empty) in the order of their key; returns the
        SHA-256 of the file. Raises ValueError as `encoded`.

        The same set of rows is the same file, byte for byte; numbers read back to the same float.
        """
        path = Path(path)
        try:
            content = self.encoded(rows)
        except ValueError as error:
            raise ValueError(f"{path.name}: {error}") from None
        atomic.replace(path, content)
        return hashlib.sha256(content).hexdigest()

    def encoded(self, rows: Iterable[Mapping]) -> bytes:
        """Returns rows as a file. Raises ValueError for an unknown column, a wrong type, a faulty
        row or a repeated key.
        """
        schema = self.schema
        ordered = {}
        for row in rows:
            unknown = set(row) - set(schema)
            if unknown:
                raise ValueError(f"unknown column {min(unknown)}; columns are {', '.join(schema)}")
            try:
                cells = [_cell(row.get(name), kind) for name, kind in schema.items()]
                record = self._record(cells)
            except Damaged as error:
                raise ValueError(f"{error} in {dict(row)}") from None
            place = tuple((record[name] is not None, record[name]) for name in self.key)
            if place in ordered:
                raise ValueError(f"two rows at {[record[name] for name in self.key]}")
            ordered[place] = cells
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(schema)
        writer.writerows(ordered[place] for place in sorted(ordered))
        return out.getvalue().encode()

    def read(self, file: Path) -> Iterator[tuple[int, dict]]:
        """Yields (line number, row) of a file. Raises UserError with file and line for a line that
        `write` would not write.
        """
        if not file.is_file():  # a pipe or a device would be read for ever
            raise UserError(file, problem="not a file", remedy=AGAIN)
        if file.stat().st_size > LARGEST:
            problem = f"larger than {LARGEST // 2**20} MiB, the most for its kind"
            raise UserError(file, problem=problem, remedy=AGAIN)
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            problem = f"cannot be read as text ({type(error).__name__})"
            raise UserError(file, problem=problem, remedy=AGAIN) from None
        yield from self._parsed(text, file)

    def _parsed(self, text: str, file: Path) -> Iterator[tuple[int, dict]]:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        schema = [*self.schema]
        try:
            header = next(reader, [])
            if header != schema:
                other = [name for name in header + schema if (name in header) != (name in schema)]
                wrong = escaped(other[0]) if other else "order of columns"
                raise Damaged(f"wrong header ({wrong}); columns are {','.join(schema)}")
            for cells in reader:
                yield reader.line_num, self._record(cells)
            if not text.endswith("\n"):
                raise Damaged("the last line is cut off")
        except (Damaged, csv.Error) as error:
            line = max(reader.line_num, 1)
            raise UserError(f"{file}:{line}", problem=error, remedy=AGAIN) from None

    def _record(self, cells: list[str]) -> dict:
        if len(cells) != len(self.schema):
            raise Damaged(f"{len(cells)} fields instead of {len(self.schema)}")
        columns = zip(cells, self.schema.items(), strict=True)
        record = {name: _parse(cell, name, kind) for cell, (name, kind) in columns}
        self.check(record)
        return record

    def records(self, files: Iterable[Path]) -> list[dict]:
        """Returns the rows of files as dicts, None for a missing value. Raises as `read`."""
        found = []
        for file in files:
            found += [record for _, record in self.read(Path(file))]
        return found

    def frame(self, records: list[dict]) -> pd.DataFrame:
        """Returns text as str (empty if missing), whole numbers as Int64, numbers as float64."""
        columns = {}
        for name, kind in self.schema.items():
            cells = [record[name] for record in records]
            columns[name] = pd.array(cells, dtype=DTYPES[kind])
        return pd.DataFrame(columns)

    def as_read(self, rows: Iterable[Mapping]) -> pd.DataFrame:
        """Returns rows as a frame that equals what `write` and reading give, without a file."""
        text = self.encoded(rows).decode()
        parsed = self._parsed(text, Path("rows"))
        return self.frame([record for _, record in parsed])


def _cell(value, kind: str) -> str:
    if value is None or value is pd.NA:
        return ""
    if isinstance(value, float | np.floating) and math.isnan(value):
        return ""
    if kind is TEXT:
        return str(value)
    try:
        # str(2.0) would not read back as a whole number, and numpy's repr carries its type.
        if kind is WHOLE and float(value).is_integer():
            return str(int(value))
        return repr(float(value))
    except (TypeError, ValueError, OverflowError):
        raise Damaged(f"{value!r} is not a {kind}") from None


def _parse(cell: str, name: str, kind: str):
    if not cell.isprintable():
        raise Damaged(f"{name}: {cell!r:.60} holds unprintable characters")
    if kind is TEXT:
        return cell
    if cell == "":
        return None
    try:
        if not set(cell) <= NUMERIC:  # Python also reads 1_000, spaces and other digits
            raise ValueError
        value = int(cell) if kind is WHOLE else float(cell)
    except ValueError:
        raise Damaged(f"{name}: {cell!r:.60} is not a {kind}") from None
    if kind is REAL and math.isnan(value):
        raise Damaged(f"{name}: nan, where a missing number is an empty field")
    if kind is WHOLE and abs(value) >= 2**63:
        raise Damaged(f"{name}: {cell} is too large")
    return value
