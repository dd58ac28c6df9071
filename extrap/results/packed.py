"""The packed rows of a study: one Parquet file that holds the rows of many jobs.

    ...                the columns of rows, in their order
    sheet      text    name of the file of rows that a job wrote, without `.csv`
    digest     text    the first 16 hexadecimal digits of that file's SHA-256

Rows stand in the order of their files. A file without rows is one row whose `run` is empty. The
same sheets are the same bytes under the same version of pyarrow.
"""

import io
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

from extrap.results.csv_table import REAL, TEXT, WHOLE, Damaged
from extrap.results.schema import KEY, REQUIRED, ROWS, SCHEMA, STATUSES
from extrap.utils import atomic
from extrap.utils.errors import UserError
from extrap.utils.untrusted import TABLE

pc: Any = pyarrow.compute
"""Arrow's functions, which it makes as it is imported."""

SHEET, DIGEST = "sheet", "digest"
MOST = 5_000_000
"""Rows of a packed file."""

LONGEST = 4096
"""Bytes of a text in a packed file."""

NAME = re.compile(r"[A-Za-z0-9][^/]*")
"""Names of sheets, which become parts of paths."""

PLAIN = {TEXT: pa.string(), WHOLE: pa.int64(), REAL: pa.float64()}
CODED = PLAIN | {TEXT: pa.dictionary(pa.int32(), pa.string())}
EMPTY = {name: "" if kind is TEXT else None for name, kind in SCHEMA.items()}
OWN = SCHEMA | {SHEET: TEXT, DIGEST: TEXT}
AGAIN = "fetch the file again, or pack the study again"


@dataclass(frozen=True, eq=False)
class Sheets:
    """The sheets of a packed file.

    Args:
        columns: its Arrow table, text as dictionaries
    """

    path: Path
    columns: pa.Table

    @cached_property
    def sheets(self) -> dict[str, tuple[int, int]]:
        """{sheet: (its first row, the row behind its last)}, in the order of the file."""
        names = self.columns[SHEET].to_pylist()
        count = len(names)
        starts = [i for i in range(count) if i == 0 or names[i] != names[i - 1]]
        borders = [*starts, count]
        found = {names[i]: (i, end) for i, end in pairwise(borders)}
        if len(found) < len(starts):
            raise UserError(self.path, problem="a sheet lies in two pieces", remedy=AGAIN)
        return found

    def digest(self, sheet: str) -> str:
        """Returns the digest of the file that a sheet was packed from."""
        first, _ = self.sheets[sheet]
        return self.columns[DIGEST][first].as_py()

    def table(self, sheet: str) -> pa.Table:
        """Returns the columns of a sheet."""
        start, end = self.sheets[sheet]
        return self.columns.slice(start, end - start).drop_columns([SHEET, DIGEST])


class Packed(Sheets):
    """The content of a file of packed rows."""

    def records(self, sheet: str) -> list[dict[str, Any]]:
        """Returns the rows of a sheet as dicts, None for a missing value."""
        found = self.table(sheet).to_pylist()
        return [row for row in found if row["run"]]

    @cached_property
    def marks(self) -> dict[str, tuple[str, frozenset[tuple[str, str]]]]:
        """Returns what extrap.results.marks.Mark holds, by sheet."""
        if not self.columns.num_rows:
            return {}
        texts, codes = {}, {}
        for name in (SHEET, "run", "status", "data", "config"):
            column: Any = self.columns[name].chunk(0)
            texts[name] = column.dictionary.to_pylist()
            codes[name] = column.indices.to_numpy()
        configs: dict[str, str] = {}
        ends: dict[str, set[tuple[str, str]]] = {}
        different = pd.DataFrame(codes).drop_duplicates()
        for row in different.itertuples(index=False):
            pairs = zip(texts.values(), row, strict=True)
            sheet, run, status, data, config = (known[code] for known, code in pairs)
            configs.setdefault(sheet, config)
            known = ends.setdefault(sheet, set())
            if run:  # a sheet without rows is one row without a run
                known.add((status, data))
        return {sheet: (configs[sheet], frozenset(known)) for sheet, known in ends.items()}

    def frame(self) -> pd.DataFrame:
        """Returns all rows and their sheet, typed as `Table.frame` types them."""
        real = pc.not_equal(self.columns["run"], "")
        return framed(self.columns.drop_columns([DIGEST]).filter(real))


def framed(columns: pa.Table) -> pd.DataFrame:
    """Returns columns typed as `Table.frame` types them."""
    return pd.DataFrame({name: _column(columns[name]) for name in columns.column_names})


def _column(column: pa.ChunkedArray) -> Any:
    if pa.types.is_dictionary(column.type):
        return pd.array(column.to_numpy(), dtype="str")
    if pa.types.is_integer(column.type):
        nullable = {pa.int64(): pd.Int64Dtype()}
        return column.to_pandas(types_mapper=nullable.get).array
    return column.to_numpy()


def write(path: Path, sheets: Mapping[str, tuple[str, Sequence[dict]]]) -> None:
    """Writes a packed file. sheets: {name: (digest, rows)}, in the order of the file."""
    listed: dict[str, list] = {name: [] for name in OWN}
    for name, (digest, rows) in sheets.items():
        for row in rows or [EMPTY]:
            listed[SHEET].append(name)
            listed[DIGEST].append(digest)
            for column in SCHEMA:
                listed[column].append(row[column])
    save(path, pa.table(listed, schema=schema(OWN)))


def schema(own: Mapping[str, str], types: Mapping[str, pa.DataType] = PLAIN) -> pa.Schema:
    """Returns the columns of a file, of these types by their kinds."""
    return pa.schema([(name, types[kind]) for name, kind in own.items()])


def save(path: Path, table: pa.Table) -> None:
    """Writes a packed file. Its options are fixed, so that the same table is the same bytes."""
    # pyarrow takes names as well, and its default is a bool
    coded: Any = [field.name for field in table.schema if field.type == PLAIN[TEXT]]
    out = io.BytesIO()
    pq.write_table(
        table,
        out,
        compression="zstd",
        compression_level=19,
        use_dictionary=coded,
        row_group_size=MOST,
        write_statistics=False,
        store_schema=False,
    )
    atomic.replace(path, out.getvalue())


def read(path: Path) -> Packed | None:
    """Returns the content of a packed file, None without the file. Raises UserError for a damaged
    file and for a row that `rows.write` would not write.
    """
    version = version_of(path)
    return None if version is None else _read(path, version)


def version_of(path: Path) -> tuple[int, ...] | None:
    """Returns what changes with the content of a packed file, None without the file. Raises
    UserError for a folder, a pipe or a device, and for a file that is too large.
    """
    try:
        about = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(about.st_mode):  # a pipe or a device would be read for ever
        raise UserError(path, problem="not a file", remedy=AGAIN)
    if about.st_size > TABLE:
        problem = f"larger than {TABLE // 2**20} MiB, the most for its kind"
        raise UserError(path, problem=problem, remedy=AGAIN)
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


@lru_cache(maxsize=64)
def _read(path: Path, version: tuple[int, ...]) -> Packed:
    del version  # a file that changes is another entry of the cache
    with sound(path, "rows"):
        found = Packed(path, load(path, OWN))
        frame = found.frame()
    _check_rows(path, frame)
    return found


@contextmanager
def sound(path: Path, what: str) -> Iterator[None]:
    """Raises UserError if Arrow finds a packed file damaged."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        reason = type(error).__name__
        if str(error):
            reason = str(error).splitlines()[0][:200]
        raise UserError(path, problem=f"no packed {what} ({reason})", remedy=AGAIN) from None


def load(path: Path, own: Mapping[str, str]) -> pa.Table:
    """Returns the columns of a packed file, text as dictionaries. Raises an error of Arrow for a
    damaged file, other columns, more rows than MOST, and cells that no file of a job holds.
    """
    _check_shape(pq.read_metadata(path), own)
    file = pq.ParquetFile(path, read_dictionary=_of_kind(own, TEXT))
    if not file.schema_arrow.remove_metadata().equals(schema(own, CODED)):
        raise pa.ArrowInvalid("a column has another type")
    columns = file.read().unify_dictionaries().combine_chunks()
    _check_cells(columns, own)
    return columns


def _of_kind(own: Mapping[str, str], kind: str) -> list[str]:
    return [name for name, its in own.items() if its is kind]


def _check_shape(about: pq.FileMetaData, own: Mapping[str, str]) -> None:
    """Raises ArrowInvalid for other columns, no rows, and more bytes or rows than a study has."""
    if about.schema.names != [*own]:
        raise pa.ArrowInvalid(f"wrong columns; columns are {','.join(own)}")
    if not about.num_rows:
        raise pa.ArrowInvalid("the file is without any")
    if about.num_rows > MOST:
        raise pa.ArrowInvalid(f"{about.num_rows} rows; {MOST} are the most")
    size = 0
    for i in range(about.num_row_groups):
        group = about.row_group(i)
        for j in range(group.num_columns):
            size += group.column(j).total_uncompressed_size
    if size > 4 * TABLE:
        raise pa.ArrowInvalid(f"unpacks to more than {4 * TABLE // 2**20} MiB")


def _check_cells(columns: pa.Table, own: Mapping[str, str]) -> None:
    """Raises ArrowInvalid for a missing, an unprintable or a longer text, and for nan."""
    for name in _of_kind(own, TEXT):
        if columns[name].null_count:
            raise pa.ArrowInvalid(f"{name}: a text is missing")
        for value in values(columns[name]):
            if not value.isprintable():
                raise pa.ArrowInvalid(f"{name}: {value!r:.60} holds unprintable characters")
            if len(value) > LONGEST:
                raise pa.ArrowInvalid(f"{name}: a text of {len(value)} characters")
    for name in values(columns[SHEET]):
        if not NAME.fullmatch(name):
            raise pa.ArrowInvalid(f"{name!r:.60} names no sheet")
    for name in _of_kind(own, REAL):
        if pc.any(pc.is_nan(columns[name])).as_py():
            raise pa.ArrowInvalid(f"{name}: nan, where a missing number is empty")


def values(column: pa.ChunkedArray) -> set[str]:
    """Returns the different texts of a column."""
    found = set()
    for chunk in cast(list[pa.DictionaryArray], column.chunks):
        found |= {*chunk.dictionary.to_pylist()}
    return found


def _check_rows(path: Path, rows: pd.DataFrame) -> None:
    """Raises UserError for a row that may not exist and for repeated coordinates."""
    sound = rows["status"].isin(STATUSES) & (rows["metric"] != "")
    sound &= rows["value"].notna()
    for name in REQUIRED:
        column = rows[name]
        sound &= column.notna() & (column != "").fillna(False)
    sound &= ~(rows["low"] > rows["high"])
    doubtful = rows[~sound.astype(bool)]  # a diverged run has no value
    for number, row in doubtful.iterrows():
        known = {name: None if pd.isna(row[name]) else row[name] for name in SCHEMA}
        try:
            ROWS.check(known)
        except Damaged as error:
            raise UserError(f"{path}: row {number}", problem=error, remedy=AGAIN) from None
    twice = rows.duplicated([*KEY])
    if twice.any():
        sheet = rows.loc[twice, SHEET].iloc[0]
        raise UserError(path, problem=f"{sheet}: two rows at the same coordinates", remedy=AGAIN)
