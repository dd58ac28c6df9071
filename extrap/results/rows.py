"""Rows of studies and scores of their items: written, read and checked (README.md)."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from extrap.results.csv_table import TEXT, WHOLE
from extrap.results.places import LOOSE, place, with_rows
from extrap.results.schema import (
    COLUMNS,
    ITEMS,
    KEY,
    REQUIRED,
    ROWS,
    SCHEMA,
    STATUSES,
)
from extrap.results.sheets import Sheet, packed_of, sheets
from extrap.utils import versions
from extrap.utils.errors import UserError, escaped

SHEET = "sheet"
STALE = "delete the file that is out of date"
MULTIPLE = "multiple"
"""The column of a frame that no file has: the length over the training length."""

write_items, items_as_read = ITEMS.write, ITEMS.as_read


def write(path: Path | str, rows: Iterable[Mapping]) -> str:
    """Writes rows, those of a frame among them, as `Table.write` does. No file has `multiple`."""

    def known(row: Mapping) -> dict:
        return {name: value for name, value in row.items() if name != MULTIPLE}

    return ROWS.write(path, map(known, rows))


def frame(records: list[dict]) -> pd.DataFrame:
    """Returns rows as a frame: text as str (empty if missing), whole numbers as Int64, numbers as
    float64; `multiple` is the length over the training length, nan without a length.
    """
    return with_multiple(ROWS.frame(records))


def as_read(rows: Iterable[Mapping]) -> pd.DataFrame:
    """Returns rows as a frame that equals what `write` and `read` give, without a file."""
    return with_multiple(ROWS.as_read(rows))


def with_multiple(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns rows with the column `multiple`, which every reader of rows takes from here."""
    multiple = rows["length"] / rows["train_length"]
    return rows.assign(multiple=multiple.astype(float))


def read_items(path: Path | str) -> pd.DataFrame:
    """Returns the per-item scores of a file. Raises UserError, naming file and line, for a damaged
    one.
    """
    records = ITEMS.records([Path(path)])
    return ITEMS.frame(records)


def read(study: Path | str) -> pd.DataFrame:
    """Returns all rows of a study as a `frame`: rows.parquet, and rows/*.csv.

    Raises UserError, naming file and line, for a study without rows, a damaged file, a wrong type,
    an unknown status, repeated coordinates, and rows of another version.
    """
    return read_with_sheets(study).drop(columns=SHEET)


def read_with_sheets(study: Path | str) -> pd.DataFrame:
    """Returns all rows of a study, as `read`, and the column `sheet`: the file of each row."""
    study = Path(study)
    own = sheets(study)
    if not own:
        remedy = "evaluate a run of this study first"
        raise UserError(study, problem="no rows here (no rows/*.csv)", remedy=remedy)
    versions.check_rows(study)
    files = {path.stem for path in (study / LOOSE).glob("*.csv")}
    packed = packed_of(study)
    loose = [one for one in own if packed is None or (one.name in files and one.packed is None)]
    if packed is None:
        return with_multiple(_loose(loose))
    rows = packed.frame()
    if loose:
        again = rows[SHEET].isin([sheet.name for sheet in loose])
        rows = pd.concat([rows[~again], _loose(loose)], ignore_index=True)
        place = {sheet.name: number for number, sheet in enumerate(own)}
        places = rows[SHEET].map(place)
        order = np.argsort(places, kind="stable")
        rows = rows.iloc[order].reset_index(drop=True)
        _check_keys(study, rows)
    return with_multiple(rows)


def _check_keys(study: Path, rows: pd.DataFrame) -> None:
    """Raises UserError for two rows of different sheets at the same coordinates."""
    twice = rows.duplicated([*KEY], keep=False)
    if not twice.any():
        return
    groups = rows[twice].groupby([*KEY], dropna=False, sort=False)
    _, names = next(iter(groups[SHEET]))
    first, second, *_ = names
    problem = f"the same coordinates and metric as {first}"
    raise UserError(Sheet(study, second).path, problem=problem, remedy=STALE)


def _loose(sheets: Iterable[Sheet]) -> pd.DataFrame:
    """Returns the rows of loose sheets. Raises UserError for repeated coordinates."""
    records = []
    names = []
    places = {}
    for sheet in sheets:
        for line, record in ROWS.read(sheet.path):
            key = tuple(record[name] for name in KEY)
            if key in places:
                problem = f"the same coordinates and metric as {places[key]}"
                raise UserError(f"{sheet.path}:{line}", problem=problem, remedy=STALE)
            places[key] = f"{sheet.path}:{line}"
            records.append(record)
            names.append(sheet.name)
    rows = ROWS.frame(records)
    rows[SHEET] = pd.array(names, dtype="str")
    return rows


def read_file(path: Path) -> pd.DataFrame:
    """Returns the rows of one file, the CSV of a job or the Parquet file of a study. Raises
    UserError as `read`.
    """
    if path.suffix == ".parquet":
        from extrap.results import packed

        found = packed.read(path)
        if found is None:
            raise UserError(path, problem="no such file")
        rows = found.frame().drop(columns=SHEET)
    else:
        rows = ROWS.frame(ROWS.records([path]))
    twice = rows.duplicated([*KEY])
    if twice.any():
        first = rows.loc[twice, "run"].iloc[0]
        raise UserError(path, problem=f"two values at the same coordinates of {first}")
    return with_multiple(rows)


def studies(results: Path | str) -> list[str]:
    """Returns the names of the studies under a results folder: of the folders that hold rows."""
    return sorted({folder.name for folder in with_rows(Path(results))})


def open_study(results: Path | str, study: str) -> pd.DataFrame:
    """Returns the rows of a study by name. Raises UserError for an unknown one, listing what
    exists, and for one without rows.
    """
    rows = read(folder(results, study))
    if rows.empty:
        raise no_rows(study)
    return rows


def folder(results: Path | str, study: str) -> Path:
    """Returns the folder of a study by name. Raises UserError for an unknown one, listing what
    exists.
    """
    known = studies(results)
    if study not in known:
        none = "none is there yet; train and evaluate one with `extrap`"
        listed = f"studies there: {', '.join(known)}" if known else none
        raise UserError("STUDY", escaped(study), f"no such study in {results}", listed)
    return place(Path(results), study)


def no_rows(study: str) -> UserError:
    """Returns the error about a study that nothing was measured of."""
    remedy = f"`extrap status {study}` tells what is left to run"
    return UserError("STUDY", study, "no rows yet", remedy)


def checked_frame(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns rows of a caller in memory, each once, numbered anew. Raises UserError for rows that
    `read` would not read: a column that is missing, stands there twice or has another type, and
    repeated coordinates. More columns may follow.
    """
    for name, kind in SCHEMA.items():
        problem = _column(rows, name, kind)
        if problem is not None:
            raise UserError("rows", problem=f"column {name}: {problem}", remedy=GIVE)
    once = rows.drop_duplicates([*COLUMNS], ignore_index=True)
    found = with_multiple(once)
    twice = found.duplicated([*KEY])
    if twice.any():
        first = found.loc[twice, ["run", "task", "metric"]].iloc[0]
        where = ", ".join(map(str, first))
        raise UserError("rows", problem=f"two values at the coordinates of {where}", remedy=GIVE)
    return found


GIVE = "give what extrap.rows or extrap.evaluate returns"


def _column(rows: pd.DataFrame, name: str, kind: str) -> str | None:
    """Returns what is wrong with a column of rows in memory, None for a sound one."""
    times = list(rows.columns).count(name)
    if times == 0:
        return "missing"
    if times > 1:
        return f"stands there {times} times"
    column = rows[name]
    known = column.dropna()
    missing = len(known) < len(column)
    if name in REQUIRED and (missing or (known == "").any()):
        return "empty in some rows"
    if not len(known):
        return None
    if not _is_kind(known, kind):
        return f"expected a {kind}, got {column.dtype}"
    if name in ("train_length", "length") and (known < 1).any():
        return f"expected at least 1, got {known.min()}"
    strange = {*known} - {*STATUSES} if name == "status" else set()
    if strange:
        return f"{min(strange)} is none of {', '.join(STATUSES)}"
    return None


def _is_kind(known: pd.Series, kind: str) -> bool:
    """Returns whether every value of a column, none missing, is of this kind."""
    if kind is TEXT:
        return all(isinstance(value, str) for value in known)
    if not pd.api.types.is_numeric_dtype(known) or pd.api.types.is_complex_dtype(known):
        return False
    return kind is not WHOLE or not (known.astype(float) % 1 != 0).any()


def comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns rows unchanged. Raises UserError for rows of different corpora, whose losses nobody
    can compare, and for seeds of one model that were measured with different options of a task.
    """
    corpora = {*rows["corpus"].unique()} - {""}
    if len(corpora) > 1:
        with_corpus = rows[rows["corpus"] != ""]
        runs = with_corpus.groupby("corpus")["run"].min()
        named = ", ".join(f"{corpus} ({run})" for corpus, run in runs.items())
        problem = "a figure or a table cannot mix rows of different corpora"
        raise UserError("corpus", named, problem, "give each corpus a study of its own")
    named = ["study", "run", "seed", "extension", "factor", "task", "config"]
    asked = rows[named].drop_duplicates()
    names = zip(asked["run"].to_numpy(object), asked["seed"], strict=True)
    asked["model"] = [run.removesuffix(f"-s{seed}") for run, seed in names]
    one = asked.groupby(["study", "run", "extension", "task", "config"])["factor"]
    follows = one.transform("nunique").gt(1)
    factor = asked["factor"].fillna(1.0)
    asked["set_for"] = factor.mask(follows, 0.0)
    for (*_, task), part in asked.groupby(["study", "model", "extension", "set_for", "task"]):
        if part["config"].nunique() == 1:
            continue
        own = part.groupby("run")["config"].agg(set)
        first = own.iloc[0]
        others = [run for run in own.index if first.isdisjoint(own[run])]
        if others:
            problem = f"{own.index[0]} and {others[0]} were measured with different options"
            remedy = "evaluate both with the same ones, or give one a study of its own"
            raise UserError(f"task.{task}", problem=problem, remedy=remedy)
    return rows
