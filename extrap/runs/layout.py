"""Names of folders and files of results.

runs/<run>/done/<study>__<extension>__<task>.json    which evaluation wrote which rows
results/<study>/rows/<run>__<extension>__<task>.csv     packed: results/<study>/rows.parquet
results/<study>/items/<run>__<extension>__<task>.csv    packed: results/<study>/items.parquet

A part of a study lies in the folder of the whole (extrap.results.places).
"""

import re
from dataclasses import dataclass
from pathlib import Path

from extrap.results.places import place
from extrap.results.sheets import Sheet
from extrap.utils.errors import UserError

RUNS = Path("runs")
RESULTS = Path("results")

DIRECT = "direct"
"""The extension that changes nothing."""

CURVE = "train"
"""The task of the training curve in rows. It belongs to the run under any extension, and its file
to `direct`.
"""

USED = "used"
"""The task of the frequencies and biases in rows that an extension sets."""

SAFE = re.compile(r"[A-Za-z0-9][^/\0\n]*")
"""Names of studies, runs, extensions and tasks, which become parts of paths."""


@dataclass(frozen=True)
class ResultFile:
    """Rows of one run, under one extension, of one task."""

    study: str
    run: str
    extension: str
    task: str

    @property
    def _under(self) -> str:
        return f"{DIRECT if self.task == CURVE else self.extension}__{self.task}"

    @property
    def name(self) -> str:
        """The name of the sheet."""
        return f"{self.run}__{self._under}"

    def _csv(self, kind: str) -> Path:
        return place(RESULTS, self.study) / kind / f"{self.name}.csv"

    @property
    def rows(self) -> Path:
        return self._csv("rows")

    @property
    def sheet(self) -> Sheet:
        """The rows where they lie now: in their file or packed."""
        return Sheet(place(RESULTS, self.study), self.name)

    @property
    def items(self) -> Path:
        return self._csv("items")

    @property
    def note(self) -> str:
        """Name of the note in the run folder about finished rows."""
        return f"{self.study}__{self._under}"


def check_part(option: str, name: str) -> None:
    """Raises UserError for the name of a task or an extension that `of_rows` would take apart."""
    if "__" in name:
        problem = "two underscores divide the names of files of rows"
        raise UserError(option, name, problem, "rename its file with a single one")


def of_rows(sheet: Sheet) -> ResultFile | None:
    """Returns the parts of the name of a sheet, or None."""
    match sheet.name.rsplit("__", 2):
        case [run, extension, task] if SAFE.fullmatch(run):
            return ResultFile(sheet.study.name, run, extension, task)
    return None
