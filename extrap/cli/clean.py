"""Remove run folders or rows of a study. Names them and asks first."""

import errno
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path

from extrap.cli.shared import argument, command
from extrap.results import packing
from extrap.results.places import PACKED
from extrap.results.sheets import Sheet, packed_of
from extrap.runs.layout import CURVE, ResultFile
from extrap.runs.study import Entry, State, entries, standings, uses
from extrap.utils import lock
from extrap.utils.atomic import check_way
from extrap.utils.errors import UserError

STATES = [state.value for state in State if state is not State.RUNNING]

RUNS = "runs, as `extrap status` names them; all by default"
IN_STATE = "only jobs in this state (may be given again)"

LOCKS = (lock.NAME, lock.LEASE_NAME, ".nfs")
"""Beginnings of names of locks, the last of those that NFS keeps while they are open."""


@command(
    "study",
    argument("only", metavar="RUN", nargs="*", default=[], help=RUNS),
    argument("--state", choices=STATES, action="append", help=IN_STATE),
    argument("--runs", action="store_true", help="remove run folders: weights, checkpoints, logs"),
    argument("--rows", action="store_true", help="remove rows and items, and forget the jobs"),
    argument("--yes", action="store_true", help="do not ask"),
)
def main(args: Namespace) -> None:
    if not (args.runs or args.rows):
        remedy = "add --runs (weights, checkpoints, logs), --rows (results) or both"
        raise UserError("", problem="nothing to remove", remedy=remedy)
    chosen = choose(args.study, args.only, args.state or STATES)
    clean(chosen, args.runs, args.rows, args.yes)


def choose(study: str, runs: list[str], states: list[str]) -> list[Entry]:
    """Returns the chosen jobs. Raises UserError for a run that the study does not have."""
    jobs = standings(study)
    known = sorted({job.entry.run for job in jobs})
    if unknown := [run for run in runs if run not in known]:
        remedy = f"its runs are {', '.join(known)}"
        raise UserError("RUN", unknown[0], f"not a run of study {study}", remedy)
    meant = [job for job in jobs if not runs or job.entry.run in runs]
    for job in meant:
        if job.state is State.RUNNING:
            _tell(f"{job.entry.run}: left alone, {job.note} works on it")
    return [job.entry for job in meant if job.state.value in states]


def clean(jobs: list[Entry], runs: bool, rows: bool, yes: bool) -> None:
    """Lists, asks, removes. No process starts on a run during the question: its lock is held
    until the end.
    """
    with ExitStack() as held:
        left = _not_meant(jobs)
        folders = [*_folders(jobs, left, held)] if runs else []
        free = _free(jobs, folders, held) if rows else []
        files = chain.from_iterable(_files(job, left) for job in free)
        packed = set(chain.from_iterable(_packed(job, left) for job in free))
        paths = [*dict.fromkeys([*folders, *files])]  # the jobs of a run share its curve
        # files in a folder that goes, go with it
        paths = [path for path in paths if not {*paths} & {*path.parents}]
        if not paths and not packed:
            return _tell("nothing to remove")
        for path in paths:
            inside = path.rglob("*") if path.is_dir() else [path]
            size = sum(file.lstat().st_size for file in inside)
            print(f"  {path}  {size / 1e6:.1f} MB")
        for sheet in sorted(packed, key=lambda sheet: sheet.name):
            print(f"  {sheet.study / PACKED}: {sheet.name}")
        count = len(paths) + len(packed)
        if not yes and not _agreed(f"remove these {count}? [y/N] "):
            return _tell("nothing removed")
        emptied = [path for path in paths if not _removed(path)]
        for study in {sheet.study for sheet in packed}:
            packing.remove(study, {sheet.name for sheet in packed})
    for path in emptied:
        with _whole(path):
            path.rmdir()
    _tell(f"{count} removed")


def _not_meant(jobs: list[Entry]) -> dict[str, list[str]]:
    """Returns, by run, the extensions of other jobs of the study, which share folder and curve."""
    meant = {(job.run, job.extension) for job in jobs}
    found: dict[str, list[str]] = {}
    for job in entries(jobs[0].study) if jobs else []:
        if (job.run, job.extension) not in meant:
            found.setdefault(job.run, []).append(job.extension)
    return found


def _folders(jobs: list[Entry], left: dict[str, list[str]], held: ExitStack) -> Iterator[Path]:
    """Yields run folders of these jobs that nothing else uses, and locks each."""
    for run, job in {job.run: job for job in jobs}.items():
        folder = job.folder.folder
        check_way(folder)
        if not folder.is_dir():
            continue
        if others := sorted(uses(run) - {job.study}):
            _tell(f"{run}: left alone, study {', '.join(others)} uses it")
        elif run in left:
            _tell(f"{run}: left alone, its jobs {', '.join(sorted(left[run]))} are not meant")
        else:
            try:
                with ExitStack() as mine:
                    mine.enter_context(lock.alone(folder, wait=False))
                    if (holder := lock.any_part(folder)) is not None:
                        raise lock.Held(holder)
                    held.push(mine.pop_all())
            except lock.Held as taken:
                _tell(f"{run}: left alone, {taken} works on it")
            else:
                yield folder


def _free(jobs: list[Entry], folders: list[Path], held: ExitStack) -> list[Entry]:
    """Returns the jobs that no process works on, and locks each outside the locked folders."""
    found = []
    for job in jobs:
        folder = job.folder.folder
        if folder.is_dir() and folder not in folders:
            check_way(folder)
            try:
                held.enter_context(job.folder.alone_at(job.work, wait=False))
            except lock.Held as taken:
                _tell(f"{job.run}: left alone, {taken} works on it")
                continue
        found.append(job)
    return found


def _rows(job: Entry, left: dict[str, list[str]]) -> list[ResultFile]:
    """Returns the rows of a job. The curve stays if another job of its run does."""
    return [job.file(task) for task in job.tasks if task != CURVE or job.run not in left]


def _packed(job: Entry, left: dict[str, list[str]]) -> Iterator[Sheet]:
    """Yields the sheets of a job that the packed file of its study holds."""
    for file in _rows(job, left):
        found = packed_of(file.sheet.study)
        if found is not None and file.sheet.name in found.sheets:
            yield file.sheet


def _files(job: Entry, left: dict[str, list[str]]) -> Iterator[Path]:
    """Yields the files of a job. Raises UserError if a link leads to a file: its target may belong
    to another user.
    """
    found = [job.path, job.folder.reason(job.extension)]
    for file in _rows(job, left):
        found += [file.rows, file.items, job.folder.done(file.note)]
    for path in found:
        check_way(path.parent)
        if path.is_symlink() or path.is_file():
            yield path


def _agreed(question: str) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        problem = "cannot ask for confirmation without a terminal"
        raise UserError("", problem=problem, remedy="add --yes to remove the files")
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:  # Ctrl-D
        print()
        return False


def _removed(path: Path) -> bool:
    """Removes a file, or a run folder: its state first, so that half a removal leaves no trained
    run. Returns False for a folder that is empty but for its locks: on NFS the lock that this
    process holds stays, under another name, until it is closed. Raises UserError if a part stays.
    """
    if not path.is_dir():
        path.unlink()
        return True
    (path / "state.json").unlink(missing_ok=True)
    with _whole(path):
        try:
            shutil.rmtree(path)
        except OSError as error:
            stays = error.errno not in (errno.ENOTEMPTY, errno.EBUSY)
            if stays or not all(name.startswith(LOCKS) for name in os.listdir(path)):
                raise
            return False
    return True


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Raises UserError if a part of a folder cannot be removed."""
    try:
        yield
    except OSError as error:
        problem = f"not all of it can be removed ({error.strerror})"
        raise UserError(path, problem=problem, remedy="the same command removes the rest") from None


def _tell(line: str) -> None:
    print(f"extrap clean: {line}", file=sys.stderr)
