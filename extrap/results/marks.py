"""What the rows of each sheet of a study say of its job: how it ended, and its configuration."""

import csv
import io
from pathlib import Path
from typing import NamedTuple

from extrap.results.places import LOOSE
from extrap.results.sheets import packed_of
from extrap.utils.errors import UserError
from extrap.utils.untrusted import TABLE, read_text


class Mark(NamedTuple):
    """The mark of a sheet.

    config  the hash of the configuration in its first row, "" without rows
    ends    the different pairs of status and data in its rows
    """

    config: str
    ends: frozenset[tuple[str, str]]


class Marks:
    """The marks of the sheets of a study, of packed ones all at once."""

    def __init__(self, study: Path) -> None:
        self.folder = study / LOOSE
        self._loose = {path.stem for path in self.folder.glob("*.csv")}
        packed = packed_of(study)
        self._packed = {} if packed is None else packed.marks

    def of(self, sheet: str) -> Mark | None:
        """Returns the mark of a sheet by name; None if the sheet is missing or damaged."""
        path = self.folder / f"{sheet}.csv"
        if sheet in self._loose and path.exists():
            return _read(path)
        found = self._packed.get(sheet)
        return None if found is None else Mark(*found)


def _read(path: Path) -> Mark | None:
    if not path.is_file():  # reading a pipe or a device never ends
        return None
    try:
        text = io.StringIO(read_text(path, TABLE), newline="")
        read = csv.DictReader(text)
        rows = list(read)
    except (OSError, UserError, csv.Error):
        return None
    if not read.fieldnames:
        return None
    ends = frozenset((row.get("status") or "", row.get("data") or "") for row in rows)
    config = rows[0].get("config") if rows else None
    return Mark(config or "", ends)
