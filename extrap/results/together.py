"""Rows of several studies, and files of rows of other people, as one frame: labelled where names
meet, refused where numbers cannot be compared.
"""

from collections.abc import Sequence
from itertools import chain, combinations, count
from pathlib import Path

import pandas as pd

from extrap.results import baselines
from extrap.results.places import place
from extrap.results.rows import SHEET, comparable, no_rows, open_study, read, read_file, studies
from extrap.results.series import SHARES
from extrap.utils.errors import UserError

BUNDLE = "rows.csv"
"""The rows of a bundle of `extrap publish`."""
ASKED = ["task", "protocol", "length", "metric"]
GUESSES = ("chance", "guess")
"""Metrics that follow from the questions alone."""
LOSSES = ("nll",)


def opened(results: Path, name: str) -> pd.DataFrame:
    """Returns the rows of a study by name, else of a file or a folder of rows, under the name of
    the file, else of a study whose rows travel with the package. Raises UserError for an unknown
    one.
    """
    path = Path(name)
    if travels(results, name):
        return baselines.rows(name).drop(columns=SHEET)
    if name in studies(results) or not path.exists():
        return open_study(results, name)
    if path.is_dir() and not (path / BUNDLE).is_file():
        return read(path)
    file = path / BUNDLE if path.is_dir() else path
    rows = read_file(file)
    if rows.empty:
        raise no_rows(name)
    return rows


def travels(results: Path, name: str) -> bool:
    """True for a study that is not here, and whose rows travel with the package."""
    if name in studies(results) or Path(name).exists():
        return False
    try:
        baselines.folder(name)
    except UserError:
        return False
    return True


def together(results: Path, names: Sequence[str]) -> pd.DataFrame:
    """Returns the rows of all. A series that two of them have is named after its study as well.
    Raises UserError for a name given twice, and for rows of other text or of other questions.
    """
    places = [_place(results, name) for name in names]
    for name, at in zip(names, places, strict=True):
        if places.count(at) > 1:
            raise UserError("STUDY", name, "given twice", "name each once")
    parts = [opened(results, name) for name in names]
    if len(parts) == 1:
        return parts[0]
    named: list[pd.DataFrame] = []
    for part, name in zip(parts, names, strict=True):
        known = [one["study"].iloc[0] for one in named]
        named.append(_named(part, name, known))
    for first, second in combinations(named, 2):
        _check(first, second)
    rows = pd.concat(named, ignore_index=True)
    return comparable(labelled(rows))


def labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns rows in which a series of several studies ends in the name of its study; `rope-mine`
    keeps the colour of `rope`.
    """
    kind = [rows[name] for name in ("scheme", "extension", "data")]
    studies_of = rows.groupby(kind)["study"].transform("nunique")
    longer = rows["scheme"] + "-" + rows["study"]
    scheme = rows["scheme"].mask(studies_of.gt(1), longer)
    return rows.assign(scheme=scheme)


def _place(results: Path, name: str) -> Path:
    """Returns where the rows of a study, a file or a folder lie."""
    path = Path(name)
    if travels(results, name):
        path = baselines.folder(name)
    elif name in studies(results) or not path.exists():
        path = place(results, name)
    return path.resolve()


def _named(rows: pd.DataFrame, name: str, known: Sequence[str]) -> pd.DataFrame:
    """Returns rows under the name of their file if they come from a file of others, with a number
    behind it if it is one of those known.
    """
    stem = name if name in {*rows["study"]} else Path(name).stem
    numbered = (f"{stem}-{n}" for n in count(2))
    free = next(one for one in chain([stem], numbered) if one not in known)
    return rows if free == name else rows.assign(study=free)


def _check(first: pd.DataFrame, second: pd.DataFrame) -> None:
    """Raises UserError if two studies asked other questions in a cell that both have."""
    a = first["study"].iloc[0]
    b = second["study"].iloc[0]
    of_a = sorted({*first["corpus"]} - {""})
    of_b = sorted({*second["corpus"]} - {""})
    if of_a and of_b and {*of_a}.isdisjoint(of_b):
        said = f"{a} has {', '.join(of_a)}, {b} {', '.join(of_b)}"
        raise UserError("corpus", problem=f"other text: {said}", remedy="show each by itself")
    for metrics, column, what in ((GUESSES, "value", "questions"), (LOSSES, "tokens", "documents")):
        own = _asked(first, metrics, column)
        other = _asked(second, metrics, column)
        shared = own.index.intersection(other.index)
        differs = [cell for cell in shared if own[cell].isdisjoint(other[cell])]
        if not differs:
            continue
        cell = differs[0]
        task, protocol, length, metric = cell
        where = f"{protocol} {int(length)} tokens" if length else f"{protocol}"
        of = metric if column == "value" else column
        said = f"{of} {max(own[cell]):g} in {a}, {max(other[cell]):g} in {b}"
        problem = f"other {what}, {where.strip()}: {said}"
        raise UserError(f"task.{task}", problem=problem, remedy="show each by itself")
    own = _depths(first)
    other = _depths(second)
    for cell in own.index.intersection(other.index):
        if alone := sorted(own[cell] ^ other[cell]):
            task, protocol, length, _ = cell
            where = a if alone[0] in own[cell] else b
            said = f"{protocol} {int(length)} tokens: depth {alone[0]:g} in {where} alone"
            remedy = "show each by itself"
            raise UserError(f"task.{task}", problem=f"other depths, {said.strip()}", remedy=remedy)


def _depths(rows: pd.DataFrame) -> pd.Series:
    """Returns the set of depths that a mean is over, by cell and training length."""
    at_depths = rows["metric"].isin(SHARES) & rows["depth"].notna() & rows["length"].notna()
    cells = rows[at_depths].groupby(["task", "protocol", "length", "train_length"])
    return cells["depth"].agg(lambda depths: {*depths.astype(float).round(9)})


def _asked(rows: pd.DataFrame, metrics: Sequence[str], column: str) -> pd.Series:
    """Returns the set of numbers that follow from what was asked, by cell: models of several
    training lengths ask several.
    """
    asked = rows["metric"].isin(metrics)
    asked &= rows[column].notna()
    asked &= rows["task"] != "train"
    asked &= rows["axis"] == ""
    kept = rows[asked]
    lengths = kept["length"].fillna(0).astype(float)
    cells = kept.assign(length=lengths).groupby(ASKED)
    return cells[column].agg(lambda numbers: {*numbers.astype(float).round(9)})
