"""Names of folders and files of results: where rows lie, and what a name says.

runs/<run>/done/<study>__<extension>__<task>.json    which evaluation wrote which rows
results/<study>/rows/<run>__<extension>__<task>.csv
results/<study>/items/<run>__<extension>__<task>.csv

A part of a study lies in the folder of the whole (extrap.results.places).
"""

import re
from dataclasses import dataclass
from pathlib import Path

from extrap.results.places import place

RUNS = Path("runs")
RESULTS = Path("results")

DIRECT = "direct"
"""The extension that changes nothing."""

CURVE = "train"
"""The training curve stands among the rows as a task of this name. It belongs to the run, whatever
the extension, and lies with those of `direct`.
"""

USED = "used"
"""The frequencies and biases that an extension put in force, as a task of this name."""

SAFE = re.compile(r"[A-Za-z0-9][^/\0\n]*")
"""Names of studies, runs, extensions and tasks. What is read from files is held to it, as it
becomes part of paths.
"""


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
    def rows(self) -> Path:
        return place(RESULTS, self.study) / "rows" / f"{self.run}__{self._under}.csv"

    @property
    def items(self) -> Path:
        return place(RESULTS, self.study) / "items" / f"{self.run}__{self._under}.csv"

    @property
    def note(self) -> str:
        """Name of the note in the run folder that says that the rows are finished."""
        return f"{self.study}__{self._under}"


def of_rows(path: Path) -> ResultFile | None:
    """What the name of a file of rows says; None where it says nothing."""
    match path.stem.rsplit("__", 2):
        case [run, extension, task] if SAFE.fullmatch(run):
            return ResultFile(path.parent.parent.name, run, extension, task)
    return None


def of_note(path: Path) -> ResultFile | None:
    """What the name of a note in a run folder says; None where it says nothing, and in a folder
    that is about to go (extrap-clean).
    """
    match path.stem.rsplit("__", 2):
        case [study, extension, task] if SAFE.fullmatch(run := path.parent.parent.name):
            return ResultFile(study, run, extension, task)
    return None
