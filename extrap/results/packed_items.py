"""The packed scores of items of a study: one Parquet file beside its packed rows.

...                the columns of scores, in their order
sheet      text    name of the sheet of rows that the scores stand behind
digest     text    digest of that sheet: the scores belong to no other rows
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import pandas as pd
import pyarrow as pa

from extrap.results import packed
from extrap.results.packed import DIGEST, SHEET, Sheets
from extrap.results.places import LOOSE_ITEMS, PACKED_ITEMS
from extrap.results.rows import read_items
from extrap.results.schema import ITEM_KEY, ITEM_SCHEMA
from extrap.results.sheets import Sheet
from extrap.utils.errors import UserError

OWN = ITEM_SCHEMA | {name: packed.OWN[name] for name in (SHEET, DIGEST)}
PLAIN = packed.schema(ITEM_SCHEMA)


def scores(sheet: Sheet) -> pd.DataFrame | None:
    """Returns the packed scores behind a sheet, None if no file holds them or if they belong to
    other rows.
    """
    found = read(sheet.study / PACKED_ITEMS)
    if found is None or sheet.name not in found.sheets:
        return None
    same = found.digest(sheet.name) == sheet.digest
    return packed.framed(found.table(sheet.name)) if same else None


def loose(sheet: Sheet) -> pa.Table | None:
    """Returns the scores that a job wrote behind a sheet, None without their file."""
    path = sheet.study / LOOSE_ITEMS / f"{sheet.name}.csv"
    if not path.is_file():
        return None
    return pa.Table.from_pandas(read_items(path), PLAIN, preserve_index=False)


def write(path: Path, sheets: Mapping[str, tuple[str, pa.Table]]) -> None:
    """Writes a packed file. sheets: {name: (digest of its rows, scores)}, in the order of the
    file. Raises UserError for more scores than a file may hold.
    """
    count = sum(scores.num_rows for _, scores in sheets.values())
    if count > packed.MOST:
        remedy = "leave the scores in items/, where every comparison on this disk reads them"
        raise UserError(path, problem=f"{count} scores; {packed.MOST} are the most", remedy=remedy)
    parts = []
    for name, (digest, scores) in sheets.items():
        marks = [pa.repeat(text, scores.num_rows) for text in (name, digest)]
        parts.append(pa.table([*scores.columns, *marks], schema=packed.schema(OWN)))
    packed.save(path, pa.concat_tables(parts))


def read(path: Path) -> Sheets | None:
    """Returns the content of a packed file, None without the file. Raises UserError for a damaged
    file and for scores that `rows.write_items` would not write.
    """
    version = packed.version_of(path)
    return None if version is None else _read(path, version)


@lru_cache(maxsize=8)
def _read(path: Path, version: tuple[int, ...]) -> Sheets:
    del version  # a file that changes is another entry of the cache
    with packed.sound(path, "scores"):
        found = Sheets(path, packed.load(path, OWN))
        columns = found.columns
        codes = {}
        for name in (SHEET, *ITEM_KEY):
            chunk = columns[name].combine_chunks()
            codes[name] = getattr(chunk, "indices", chunk).to_numpy(zero_copy_only=False)
    problem = None
    if columns["value"].null_count or "" in packed.values(columns["item"]):
        problem = "item or value is empty"
    elif pd.DataFrame(codes).duplicated().any():
        problem = "two scores at the same coordinates"
    if problem is not None:
        raise UserError(path, problem=problem, remedy=packed.AGAIN)
    return found
