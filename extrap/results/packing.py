"""Packs the sheets of a study into its rows.parquet, which git keeps."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from extrap.results import left_out, packed, packing_items, rows
from extrap.results.places import PACKED
from extrap.results.schema import ROWS
from extrap.results.sheets import in_order, sheets
from extrap.utils.atomic import check_way
from extrap.utils.errors import UserError

Content = tuple[str, list[dict]]
"""The digest and the rows of a sheet."""


def pack(study: Path, others: Sequence[Path] = ()) -> int:
    """Writes all sheets of a study into rows.parquet, and those of other packed files: of another
    branch, of another person. Rows that left_out.yaml names stay out, and so does a sheet of which
    nothing else is left. Returns the number of packed rows.

    Raises UserError for a damaged file, for rows of another study, and for a sheet that two files
    hold with different rows.
    """
    rules = left_out.rules(study)
    rows.read(study)  # refuses repeated coordinates
    found: dict[str, Content] = {}
    for sheet in sheets(study):
        kept = _kept(sheet.records(), rules)
        if kept is not None:
            found[sheet.name] = sheet.digest or "", kept
    own = {row["study"] for _, kept in found.values() for row in kept}
    for path in others:
        _add(found, path, rules, own)
    ordered = {name: found[name] for name in in_order(found)}
    _write(study / PACKED, ordered)
    return sum(len(kept) for _, kept in found.values())


def remove(study: Path, names: set[str]) -> None:
    """Removes sheets from rows.parquet, and their scores from items.parquet."""
    found = packed.read(study / PACKED)
    if found is None:
        return
    kept = [name for name in found.sheets if name not in names]
    sheets = {name: (found.digest(name), found.records(name)) for name in kept}
    _write(study / PACKED, sheets)
    packing_items.keep_known(study)


def _write(path: Path, sheets: Mapping[str, Content]) -> None:
    """Writes a packed file, and removes one of which nothing is left: no command reads that."""
    if sheets:
        packed.write(path, sheets)
    else:
        check_way(path.parent)
        path.unlink(missing_ok=True)


def _add(found: dict[str, Content], path: Path, rules: list[left_out.Rule], own: set[str]) -> None:
    """Adds the sheets of another packed file. own: the names of the study in its rows, none yet if
    it has no rows.
    """
    other = packed.read(path)
    if other is None:
        raise UserError("--add", path, "no such file", "give the rows.parquet of a study")
    for name in other.sheets:
        kept = _kept(other.records(name), rules)
        if kept is None:
            continue
        for row in kept:
            if own and row["study"] not in own:
                problem = f"rows of study {row['study']}, and this is {', '.join(sorted(own))}"
                remedy = "extrap table, plot and report take several studies side by side"
                raise UserError("--add", path, problem, remedy)
        if name in found and found[name][1] != kept:
            remedy = "evaluate its run again, or pack without this file"
            raise UserError("--add", path, f"has other rows of {name}", remedy)
        found.setdefault(name, (other.digest(name), kept))


def _kept(sheet: list[dict], rules: list[left_out.Rule]) -> list[dict] | None:
    """Returns the rows that no rule leaves out, None if rules leave out all rows of a sheet."""
    if not sheet or not rules:
        return sheet
    out = left_out.left(ROWS.frame(sheet), rules)
    if out.all():
        return None
    marked = zip(sheet, out, strict=True)
    return [row for row, gone in marked if not gone]
