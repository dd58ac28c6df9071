"""The jobs of a study and their states, from files alone: no torch, no configuration.

runs/.jobs/<study>/<run>__<extension>.json     one job, written when it starts
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from secrets import token_hex
from typing import Any

from extrap.results.marks import Marks
from extrap.results.places import place, with_rows
from extrap.results.sheets import sheets
from extrap.runs.folder import Named, as_json, read_json
from extrap.runs.layout import CURVE, RESULTS, RUNS, SAFE, USED, ResultFile, of_rows
from extrap.utils import atomic, lock
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

OWN = token_hex(4)
"""Names the files of this process. Its id would not do: containers on one disk number their
processes alike.
"""

MISSED = "not trained"
"""The status of rows below the gate of their task."""


@dataclass(frozen=True)
class Entry:
    """One job of a study.

    Args:
        extension: its name in files
        tasks: the hash of the configuration of each evaluation
        command: the command that started it
        earlier: the commands before, by the tasks that each was the last to ask for
        parent: the run that it tunes, which is trained first; "" without one
    """

    study: str
    run: str
    extension: str
    tasks: dict[str, str]
    command: str = ""
    earlier: dict[str, list[str]] = field(default_factory=dict)
    parent: str = ""

    @property
    def commands(self) -> list[str]:
        """The commands that asked for its tasks."""
        return [*self.earlier, self.command]

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
        """The progress file of a job that this process runs, itself or as a sweep: the word in its
        name keeps two sweeps over one study out of each other's files.
        """
        return self.log.with_name(f".{self.log.stem}.{OWN}.json")

    def file(self, task: str) -> ResultFile:
        return ResultFile(self.study, self.run, self.extension, task)

    def write(self) -> None:
        write([self])

    @property
    def work(self) -> str:
        """Name of the part of the work with a run that one process at a time does."""
        return f"{self.study}__{self.extension}"

    def holder(self) -> str | None:
        """Returns the process that trains the run or makes these rows, in words, or None."""
        return self.folder.holder(self.work)

    def done_elsewhere(self) -> bool:
        """True if another process does this very work."""
        return lock.holder(self.folder.folder, self.work) is not None

    def busy(self) -> bool:
        """True if another process does this work, or trains a run that it needs."""
        others = [run for run in self.to_train() if run != self.run]
        return self.holder() is not None or any(Named(run).holder() for run in others)

    def to_train(self) -> list[str]:
        """Returns the runs that are to be trained first: its own and the parent of that."""
        if self.folder.trained:
            return []
        return [run for run in (self.run, self.parent) if run and not Named(run).trained]

    def fail(self, reason: str) -> None:
        """Writes why an attempt failed, if the disk takes it: a sweep goes on without."""
        with suppress(UserError, OSError):
            self.folder.fail(reason, self.extension)

    def missing(self) -> list[str]:
        """Returns the work that is left: "train", and tasks without rows of their configuration. A
        diverged run has its curve alone.
        """
        if not self.folder.trained:
            return [CURVE, *(task for task in self.tasks if task != CURVE)]
        diverged = self.folder.state.get("state") == "diverged"
        due = [task for task in self.tasks if task == CURVE or not diverged]
        return [task for task in due if not self.finished(task)]

    def finished(self, task: str) -> bool:
        """True if this task has its rows."""
        file = self.file(task)
        return self.folder.evaluated(file.note, self.tasks[task], file.sheet)


def write(jobs: Sequence[Entry]) -> None:
    """Adds jobs to their files. Raises UserError for a link in place of a folder."""
    known: set[Path] = set()
    for folder in {entry.path.parent for entry in jobs}:
        atomic.check_links(folder)
        atomic.make_folder(folder)
        atomic.sweep(folder, ".*.tmp", atomic.HOUR)
        known |= set(folder.iterdir())
    atomic.check_side_by_side(entry.folder.folder for entry in jobs)
    changed: set[Path] = set()
    for entry in jobs:
        path = entry.path
        before = _read(path) if path in known else None
        new = entry if before is None else _after(before, entry)
        if new != before:
            atomic.replace_here(path, as_json(_plain(new)), name=False)
            known.add(path)  # two jobs of a sweep may differ in their tasks alone
            changed.add(path.parent)
    for folder in changed:  # once for all: a sweep may have ten thousand
        atomic.sync_folder(folder)


def _plain(entry: Entry) -> dict[str, Any]:
    """Returns what the file of a job holds. Version 0.2 reads neither a parent nor commands before:
    a file without either is one for both.
    """
    found = asdict(entry)
    for later in ("parent", "earlier"):
        if not found[later]:
            del found[later]
    return found


def _after(before: Entry, entry: Entry) -> Entry:
    """Returns a job that was noted before: the tasks of both, and the commands that asked."""
    told = {*chain.from_iterable(before.earlier.values())}
    asked = before.earlier | {before.command: [name for name in before.tasks if name not in told]}
    earlier = {}
    for command, tasks in asked.items():
        left = [name for name in tasks if name not in entry.tasks]
        if left and command not in ("", entry.command):
            earlier[command] = left
    return replace(entry, tasks=before.tasks | entry.tasks, earlier=earlier)


@dataclass(frozen=True)
class Standing:
    """The state of a job.

    Args:
        left: its unfinished tasks
        seconds: time spent on the others
        note: the reason of a failure, or the holder
        doing: its progress file (utils/progress.py)
    """

    entry: Entry
    state: State
    left: list[str]
    seconds: float | None
    note: str = ""
    doing: dict[str, Any] = field(default_factory=dict)


def standings(study: str) -> list[Standing]:
    """Returns the states of all jobs of a study. Raises UserError for an unknown study."""
    found = entries(study)
    marks = Marks(place(RESULTS, study))
    return [standing(entry, marks) for entry in found]


def standing(entry: Entry, marks: Marks | None = None) -> Standing:
    """Returns the state of a job. A run folder of a later version is a failure. marks: of the
    study, for many jobs.
    """
    folder = entry.folder
    marks = Marks(place(RESULTS, entry.study)) if marks is None else marks
    if not folder.folder.exists():
        state, note = _by_rows(entry, marks)
        return Standing(entry, state, [] if state in ENDED else entry.missing(), None, note)
    try:
        left = entry.missing()
    except UserError as error:
        return Standing(entry, State.FAILED, [], None, str(error))
    state, note = _state(entry, left, marks)
    took: list[Any] = [folder.note(entry.file(task).note).get("seconds") for task in entry.tasks]
    took.append(folder.state.get("seconds"))
    spent = [s for s in took if type(s) in (int, float) and 0 <= s < MOST]
    doing = progress(entry) if state is State.RUNNING else {}
    left = [] if state in ENDED else left
    return Standing(entry, state, left, sum(spent) if spent else None, note, doing)


def progress(entry: Entry) -> dict[str, Any]:
    """Returns the newest progress file of a job, on whichever machine it runs; {} without one."""
    pattern = re.compile(rf"\.{re.escape(entry.log.stem)}\.[0-9a-f]+\.json")
    try:
        found = [path for path in entry.log.parent.iterdir() if pattern.fullmatch(path.name)]
        return read_json(max(found, key=lambda path: path.lstat().st_mtime, default=Path()))
    except OSError:  # the job has just ended
        return {}


def _state(entry: Entry, left: list[str], marks: Marks) -> tuple[State, str]:
    if not left:
        return _outcome(entry, marks), ""
    if (holder := entry.holder()) is not None:
        return State.RUNNING, holder
    folder = entry.folder
    if (reason := folder.failure(entry.extension)) is not None:
        return State.FAILED, reason
    if folder.trained or folder.checkpoint.exists():
        return State.RESUMABLE, ""
    return _by_rows(entry, marks)


def _by_rows(entry: Entry, marks: Marks) -> tuple[State, str]:
    """Returns the state of a job without a run folder, or without anything in it."""
    if not entry.tasks:  # it trains, and measures nothing
        return State.MISSING, ""
    for task in entry.tasks:
        mark = marks.of(entry.file(task).name)
        # an extension that changes no frequencies has an empty file
        if mark is None or not (mark.ends or task == USED):
            return State.MISSING, ""
    return _outcome(entry, marks), "rows without their run folder"


def _outcome(entry: Entry, marks: Marks) -> State:
    """Returns how a finished job ended, by its rows."""
    found = [marks.of(entry.file(task).name) for task in entry.tasks]
    ends = set(chain.from_iterable(mark.ends for mark in found if mark))
    if any(status == State.DIVERGED for status, _ in ends):
        return State.DIVERGED
    # a run on text alone does not learn retrieval
    missed = any(status == MISSED and data != "text" for status, data in ends)
    return State.BELOW_GATE if missed else State.DONE


def studies() -> list[str]:
    """Returns the names of all studies with jobs or rows."""
    names = {file.parent.name for file in (RUNS / ".jobs").glob("*/*.json")}
    return sorted({*names, *(folder.name for folder in with_rows(RESULTS))})


def entries(study: str) -> list[Entry]:
    """Returns jobs with files, then jobs with rows alone. Raises UserError for an unknown study."""
    if study not in (known := studies()):
        some = f"studies here: {', '.join(known)}"
        remedy = some if known else "none is here yet; `extrap` makes one"
        raise UserError("STUDY", escaped(study), "no such study", remedy)
    found = {
        (e.run, e.extension): e
        for e in map(_read, sorted(_folder(study).glob("*.json")))
        if e and e.study == study
    }
    runs, marks = {run for run, _ in found}, None
    for sheet in sheets(place(RESULTS, study)):
        if (file := of_rows(sheet)) is None or (file.task == CURVE and file.run in runs):
            continue
        new = Entry(study, file.run, file.extension, {})
        entry = found.setdefault((file.run, file.extension), new)
        if not entry.command:
            marks = marks or Marks(place(RESULTS, study))
            entry.tasks.setdefault(file.task, _config(file, marks))
    return list(found.values())


def _config(file: ResultFile, marks: Marks) -> str:
    """Returns the hash of an evaluation from its note, else from its rows."""
    noted = Named(file.run).note(file.note).get("config")
    mark = marks.of(file.name)
    return noted if isinstance(noted, str) else mark.config if mark else ""


def uses(run: str) -> set[str]:
    """Returns the studies with a job or rows of a run."""
    names = {path.parent.name for path in (RUNS / ".jobs").glob(f"*/{run}__*.json")}
    of_run = f"{run}__"
    for folder in with_rows(RESULTS):
        if any(sheet.name.startswith(of_run) for sheet in sheets(folder)):
            names.add(folder.name)
    return names


def _folder(study: str) -> Path:
    return RUNS / ".jobs" / study


def _read(path: Path) -> Entry | None:
    """Returns the job in a file; None if it is missing, damaged or names a path outside."""
    try:
        entry = Entry(**read_json(path))
        names = [entry.study, entry.run, entry.extension, *entry.tasks, *entry.tasks.values()]
        names += [] if entry.parent == "" else [entry.parent]
        told = chain(entry.commands, *entry.earlier.values())
        if not all(isinstance(word, str) for word in told):
            return None
    except (TypeError, AttributeError):
        return None
    return entry if all(isinstance(name, str) and SAFE.fullmatch(name) for name in names) else None
