"""Packs the scores of items behind the packed rows of a study into its items.parquet."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa

from extrap.results import packed, packed_items
from extrap.results.comparison.cells import items, opened
from extrap.results.places import LOOSE_ITEMS, PACKED_ITEMS
from extrap.results.sheets import Sheet, in_order, packed_of
from extrap.utils.atomic import check_way
from extrap.utils.errors import UserError


def pack(study: Path, others: Sequence[Path] = ()) -> int:
    """Writes the scores behind the packed rows of a study into items.parquet: those in items/,
    those packed before, and those of other packed files. Scores of other rows stay out. Returns
    the number of packed scores.

    Raises UserError for a damaged file, for scores whose mean differs from the row, and for a sheet
    behind which two files hold different scores.
    """
    found = _packed(study, study / PACKED_ITEMS)
    known = packed_of(study)
    for name in known.sheets if known is not None else ():
        sheet = Sheet(study, name)
        if name in found and not sheet.path.is_file():
            continue  # a file of items without its rows may be of other rows
        own = packed_items.loose(sheet)
        if own is not None and own.num_rows:
            found[name] = own
    for path in others:
        if not path.is_file():
            remedy = f"give the {PACKED_ITEMS} of a study"
            raise UserError("--add-items", path, "no such file", remedy)
        for name, scores in _packed(study, path).items():
            if not found.setdefault(name, scores).equals(scores):
                remedy = "evaluate its run again, or pack without this file"
                raise UserError("--add-items", path, f"has other scores of {name}", remedy)
    _check_means(study, found)
    _write(study, found)
    return sum(scores.num_rows for scores in found.values())


def keep_known(study: Path) -> None:
    """Removes scores from items.parquet whose rows are no longer packed."""
    if (study / PACKED_ITEMS).is_file():
        _write(study, _packed(study, study / PACKED_ITEMS))


def _packed(study: Path, path: Path) -> dict[str, pa.Table]:
    """Returns the scores of a packed file that belong to the packed rows of a study, by sheet."""
    rows, scores = packed_of(study), packed_items.read(path)
    if rows is None or scores is None:
        return {}
    shared = [name for name in scores.sheets if name in rows.sheets]
    same = [name for name in shared if scores.digest(name) == rows.digest(name)]
    return {name: scores.table(name).cast(packed_items.PLAIN) for name in same}


def _check_means(study: Path, found: Mapping[str, pa.Table]) -> None:
    """Raises UserError for scores whose mean differs from the row."""

    def scores(stem: str) -> tuple[Path, pd.DataFrame | None]:
        own = found.get(stem)
        path = study / LOOSE_ITEMS / f"{stem}.csv"
        return path, None if own is None else packed.framed(own)

    for series in opened(study) if found else ():
        items(scores, series)


def _write(study: Path, found: Mapping[str, pa.Table]) -> None:
    """Writes a packed file, and removes one of which nothing is left."""
    path, rows = study / PACKED_ITEMS, packed_of(study)
    if rows is None or not found:
        check_way(path.parent)
        path.unlink(missing_ok=True)
        return
    sheets = {name: (rows.digest(name), found[name]) for name in in_order(found)}
    packed_items.write(path, sheets)
