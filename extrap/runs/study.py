"""The jobs of a study, and how far each is. Reads files alone: no torch, no configuration.

runs/.jobs/<study>/<run>__<extension>.json     one job; written when a sweep or a single run starts,
                                               replaced by the next that asks for it
"""

import csv
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from extrap.results.places import having, place
from extrap.runs.folder import Named, read_json, write_json
from extrap.runs.layout import (
    CURVE,
    DIRECT,
    RESULTS,
    RUNS,
    SAFE,
    USED,
    ResultFile,
    of_note,
    of_rows,
)
from extrap.utils import files as atomic
from extrap.utils.errors import UserError, escaped
from extrap.utils.progress import MOST


class State(StrEnum):
    RUNNING = "running"
    FAILED = "failed"
    RESUMABLE = "resumable"
    MISSING = "missing"
    DONE = "done"
    BELOW_GATE = "below the gate"
    DIVERGED = "diverged"


ENDED = (State.DONE, State.BELOW_GATE, State.DIVERGED)

MISSED = "not trained"
"""The status of rows of a run below the gate of their task."""


@dataclass(frozen=True)
class Entry:
    """One job of a study. extension: its name in files; tasks: the hash of the configuration of
    each evaluation; command: what asked.
    """

    study: str
    run: str
    extension: str
    tasks: dict[str, str]
    command: str = ""

    @property
    def folder(self) -> Named:
        return Named(self.run)

    @property
    def log(self) -> Path:
        return self.folder.log(self.extension)

    @property
    def path(self) -> Path:
        return _folder(self.study) / f"{self.run}__{self.extension}.json"

    @property
    def report(self) -> Path:
        """Where a process that no sweep started says how far it is."""
        return self.log.with_name(f".{self.log.stem}.{os.getpid()}.json")

    def file(self, task: str) -> ResultFile:
        return ResultFile(self.study, self.run, self.extension, task)

    def write(self) -> None:
        """Writes the file of the job; see `write`."""
        write([self])

    @property
    def work(self) -> str:
        """Name of the part of what is done with a run that one process at a time does."""
        return f"{self.study}__{self.extension}"

    def holder(self) -> str | None:
        """The process that trains the run or makes these rows, in words."""
        return self.folder.holder(self.work)

    def busy(self) -> bool:
        return self.holder() is not None

    def fail(self, reason: str) -> None:
        """Notes why an attempt failed, where that can be written: a sweep goes on without."""
        with suppress(UserError, OSError):
            self.folder.fail(reason, self.extension)

    def missing(self) -> list[str]:
        """What has not been done: "train", and tasks without rows of their present configuration. A
        diverged run has its curve alone.
        """
        folder = self.folder
        if not folder.trained:
            return [CURVE, *(task for task in self.tasks if task != CURVE)]
        diverged = folder.state.get("state") == "diverged"
        return [
            task
            for task, config in self.tasks.items()
            if not (diverged and task != CURVE)
            and not folder.evaluated(self.file(task).note, config, self.file(task).rows)
        ]


def write(jobs: Sequence[Entry]) -> None:
    """Writes the files of jobs, each with the tasks that its file has already. Raises UserError if
    a link is in the place of a folder.
    """
    for folder in {entry.path.parent for entry in jobs}:
        atomic.check_links(folder)
        atomic.sweep_old(folder, ".*.tmp")
    changed = False
    for entry in jobs:
        atomic.check_way(entry.folder.folder)
        before = _read(entry.path)
        new = replace(entry, tasks=(before.tasks if before else {}) | entry.tasks)
        if new != before:
            write_json(entry.path, asdict(new), sync=False)
            changed = True
    if changed:
        os.sync()  # once for all: a sweep may have ten thousand


@dataclass(frozen=True)
class Standing:
    """What has become of a job. left: what is still to be done; seconds: time spent on what is
    done; note: why, or who; doing: what it said last of itself where it runs (utils/progress.py).
    """

    entry: Entry
    state: State
    left: list[str]
    seconds: float | None
    note: str = ""
    doing: dict[str, Any] = field(default_factory=dict)


def standing(entry: Entry) -> Standing:
    folder = entry.folder
    try:
        left = entry.missing()
    except UserError as error:  # a run folder of a later version: the other jobs are told
        return Standing(entry, State.FAILED, [], None, str(error))
    state, note = _state(entry, left)
    spent: list[Any] = [
        folder.state.get("seconds"),
        *(folder.note(entry.file(task).note).get("seconds") for task in entry.tasks),
    ]
    known = [s for s in spent if type(s) in (int, float) and 0 <= s < MOST]
    doing = _doing(entry) if state is State.RUNNING else {}
    left = [] if state in ENDED else left
    return Standing(entry, state, left, sum(known) if known else None, note, doing)


def _doing(entry: Entry) -> dict[str, Any]:
    """What the process that works on a job said last of itself; {} where it said nothing."""
    pattern = re.compile(rf"\.{re.escape(entry.log.stem)}\.\d+\.json")
    try:
        found = [path for path in entry.log.parent.iterdir() if pattern.fullmatch(path.name)]
        return read_json(max(found, key=lambda path: path.lstat().st_mtime, default=Path()))
    except OSError:  # it has just ended
        return {}


def _state(entry: Entry, left: list[str]) -> tuple[State, str]:
    if not left:
        return _outcome(entry), ""
    if (holder := entry.holder()) is not None:
        return State.RUNNING, holder
    folder = entry.folder
    if (reason := folder.failure(entry.extension)) is not None:
        return State.FAILED, reason
    if folder.trained or folder.checkpoint.exists():
        return State.RESUMABLE, ""
    if all(_rows_there(entry, task) for task in entry.tasks):
        return _outcome(entry), "rows without their run folder"
    return State.MISSING, ""


def _rows_there(entry: Entry, task: str) -> bool:
    """True if a task has rows; an extension that changes no frequencies has a file without any."""
    found = _table(entry.file(task).rows)
    return bool(found) or (task == USED and found is not None)


def _outcome(entry: Entry) -> State:
    """Returns how a finished job ended, by its rows."""
    rows = [row for task in entry.tasks for row in _table(entry.file(task).rows) or []]
    if any(row.get("status") == State.DIVERGED for row in rows):
        return State.DIVERGED
    # a run on text alone does not learn retrieval
    missed = any(row.get("status") == MISSED and row.get("data") != "text" for row in rows)
    return State.BELOW_GATE if missed else State.DONE


def studies() -> list[str]:
    """Names of all studies that were asked for or have rows."""
    names = {file.parent.name for file in (RUNS / ".jobs").glob("*/*.json")}
    return sorted({*names, *(folder.name for folder in having(RESULTS, "rows/*.csv"))})


def entries(study: str) -> list[Entry]:
    """The jobs of a study: those that were asked for, then those that left rows or notes and were
    never written down here.

    Raises UserError, listing what exists, for an unknown study.
    """
    if study not in (known := studies()):
        some = f"studies here: {', '.join(known)}"
        remedy = some if known else "none is here yet; `extrap` makes one"
        raise UserError("STUDY", escaped(study), "no such study", remedy)
    found = {
        (e.run, e.extension): e
        for e in map(_read, sorted(_folder(study).glob("*.json")))
        if e and e.study == study
    }
    runs = {run for run, _ in found}
    for run, extension, task, config in (*_noted(study), *_measured(study)):
        if (task, extension) == (CURVE, DIRECT) and run in runs:
            continue
        if (run, extension) not in found:
            found[run, extension] = Entry(study, run, extension, {})
        if not found[run, extension].command:
            found[run, extension].tasks.setdefault(task, config)
    return list(found.values())


def uses(run: str) -> set[str]:
    """The studies that asked for a run or have rows of it."""
    names = {path.parent.name for path in (RUNS / ".jobs").glob(f"*/{run}__*.json")}
    return names | {folder.name for folder in having(RESULTS, f"rows/{run}__*.csv")}


def _folder(study: str) -> Path:
    return RUNS / ".jobs" / study


def _read(path: Path) -> Entry | None:
    """The job in a file; None where there is none or it is damaged. Files are data: names that
    could leave their folder are damage.
    """
    try:
        entry = Entry(**read_json(path))
        names = [entry.study, entry.run, entry.extension, *entry.tasks, *entry.tasks.values()]
    except (TypeError, AttributeError):
        return None
    return entry if all(isinstance(name, str) and SAFE.fullmatch(name) for name in names) else None


def _noted(study: str) -> Iterator[tuple[str, str, str, str]]:
    """(run, extension, task, config) of every evaluation that finished here."""
    for path in sorted(RUNS.glob("*/done/*.json")):
        file = of_note(path)
        config: Any = read_json(path).get("config")
        if file is not None and file.study == study and isinstance(config, str):
            yield file.run, file.extension, file.task, config


def _measured(study: str) -> Iterator[tuple[str, str, str, str]]:
    """(run, extension, task, config) of every file of rows."""
    for path in sorted((place(RESULTS, study) / "rows").glob("*.csv")):
        if (file := of_rows(path)) is not None:
            config = next((row.get("config") or "" for row in _table(path) or []), "")
            yield file.run, file.extension, file.task, config


def _table(path: Path) -> list[dict[str, str]] | None:
    """The rows of a file, of which there may be none; None where there is no such file."""
    if not path.is_file():  # a pipe or a device would be read for ever
        return None
    try:
        with open(path, encoding="utf-8", newline="") as file:
            read = csv.DictReader(file)
            return list(read) if read.fieldnames else None
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
