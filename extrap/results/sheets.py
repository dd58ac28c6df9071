"""The sheets of a study: the rows of one run under one extension of one task, as a job writes them.

    results/<study>/rows/<sheet>.csv    loose, on the machine that measured them; not in git
    results/<study>/rows.parquet        packed, all sheets of a study in one file; in git

A loose sheet hides the packed sheet of its name, unless the packed one was made of it.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from extrap.results.places import LOOSE, PACKED

if TYPE_CHECKING:
    from extrap.results.packed import Packed

DIGITS = 16
"""Hexadecimal digits of a digest."""
SHOWN = 3
"""Names in a line about sheets."""


@dataclass(frozen=True)
class Sheet:
    """A sheet by the folder of its study and its name."""

    study: Path
    name: str

    @property
    def path(self) -> Path:
        """The file of the sheet while it is loose."""
        return self.study / LOOSE / f"{self.name}.csv"

    @property
    def packed(self) -> "Packed | None":
        """The packed file, if it holds the sheet and no other loose one hides it."""
        found = packed_of(self.study)
        if found is None or self.name not in found.sheets:
            return None
        if self.path.is_file() and found.digest(self.name) != digest(self.path):
            return None
        return found

    @property
    def digest(self) -> str | None:
        """The digest of the file that a job wrote; None without the sheet."""
        if self.path.is_file():
            return digest(self.path)
        found = self.packed
        return None if found is None else found.digest(self.name)

    def exists(self) -> bool:
        return self.path.is_file() or self.packed is not None

    def records(self) -> list[dict]:
        """Returns the rows as dicts, None for a missing value. Raises UserError for a damaged or a
        missing sheet.
        """
        from extrap.results.schema import ROWS  # imports pandas

        found = self.packed
        if found is None:
            return ROWS.records([self.path])
        return found.records(self.name)


def digest(path: Path) -> str:
    """Returns the first digits of the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]


def packed_of(study: Path) -> "Packed | None":
    """Returns the packed rows of a study, None without the file."""
    path = study / PACKED
    if not path.exists():
        return None
    from extrap.results import packed  # imports pandas and pyarrow

    return packed.read(path)


def sheets(study: Path) -> list[Sheet]:
    """Returns the sheets of a study in the order of their files."""
    names = {path.stem for path in (study / LOOSE).glob("*.csv")}
    found = packed_of(study)
    if found is not None:
        names |= {*found.sheets}
    return [Sheet(study, name) for name in in_order(names)]


def hidden(study: Path) -> str | None:
    """Returns a line about loose sheets that hide packed ones of other content, None without any.
    They are newer, or were left behind when a pull brought newer packed rows.
    """
    found = packed_of(study)
    if found is None:
        return None
    names = []
    for name in found.sheets:
        own = Sheet(study, name).path
        if own.is_file() and digest(own) != found.digest(name):
            names.append(name)
    if not names:
        return None
    listed = ", ".join(names[:SHOWN])
    if len(names) > SHOWN:
        listed += f" and {len(names) - SHOWN} more"
    many = f"{len(names)} sheets in rows/ hide packed ones"
    if len(names) == 1:
        many = "1 sheet in rows/ hides a packed one"
    return f"{study}: {many}: {listed}; delete sheets that are older than {PACKED}"


def in_order(names: Iterable[str]) -> list[str]:
    """Returns names of sheets in the order of their files."""
    return sorted(names, key=lambda name: f"{name}.csv")
