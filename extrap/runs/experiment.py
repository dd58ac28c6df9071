"""The work of one job: its checks, then its training and evaluation, alone with its run."""

import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import torch

from extrap.runs import evaluate, validate
from extrap.runs.job import Job
from extrap.runs.layout import DIRECT
from extrap.runs.study import Entry
from extrap.runs.training import devices
from extrap.utils import lock, progress
from extrap.utils.errors import UserError, disk_fault
from extrap.utils.interrupts import held_back
from extrap.utils.plugins import blamed, source

_CHECKED: dict[tuple[str, bool], UserError | None] = {}
"""The result of the check for each kind of job of this process's sweep."""


class Experiment:
    """The work of a job.

    Args:
        command: the command that asked for it
        in_sweep: whether another process notes the job and shows its progress
        says: whether it ends with the next commands
    """

    def __init__(self, job: Job, command: str, in_sweep: bool = False, says: bool = True):
        self.job, self.command, self.in_sweep, self.says = job, command, in_sweep, says

    def finished(self) -> bool:
        self.job.check_source()  # the name of the run holds the hash of the text
        warn_of_changes(self.job)
        return done(self.job)

    def check(self) -> None:
        """In a sweep the first job of each kind stands for the others. Raises UserError."""
        if not self.in_sweep:
            return self._check()
        torch.set_num_threads(1)  # its models are tiny, and other jobs need the cores
        validate.check_own(self.job)
        kind = validate.kind(self.job), self.job.run.trained
        if kind not in _CHECKED:
            try:
                _CHECKED[kind] = self._check()
            except UserError as error:
                _CHECKED[kind] = error.with_traceback(None)
        if (error := _CHECKED[kind]) is not None:
            raise error

    def _check(self) -> None:
        validate.check(self.job)
        if self.job.run.trained:
            return
        if self.job.stage == "evaluate":
            # another job of a sweep may train it, and so may whoever works on it now
            if not self.in_sweep and self.job.run.holder() is None:
                evaluate.check_trained(self.job)
            return
        with held_back():
            from extrap.runs import train  # imports lightning, which evaluation does without

        train.check(self.job, self.in_sweep)

    def entry(self, command: str) -> Entry:
        return evaluate.entry(self.job, command)

    def run_of(self, seed: int) -> str | None:
        """Returns None for a published checkpoint, which has no seed, and for jobs whose end the
        code of a plug-in or rows of another machine decide.
        """
        config = self.job.config
        if self.job.source.published or config["plugins"] or config["accept_rows"]:
            return None
        return self.job.run.named(seed)

    def run(self) -> None:
        torch.set_num_threads(self.job.config["threads"])
        devices.settle(self.job.source.trainer)
        if not devices.first():  # the first process of this training holds the lock
            from extrap.runs.train import train

            try:
                return train(self.job)
            except UserError:
                raise SystemExit(2) from None  # the first process says why
        entry, in_sweep = self.entry(self.command), progress.FILE in os.environ
        try:
            with ExitStack() as held:
                held.enter_context(self.job.run.alone_at(entry.work, wait=not in_sweep))
                if not in_sweep:  # which has written down its jobs, and says where progress goes
                    entry.write()
                    held.enter_context(progress.kept(entry.report))
                if self.finished():
                    note = f"{self.job.run.name}: nothing left to do{self.job.source.kept}"
                    if not in_sweep:
                        print(note, file=sys.stderr)
                    self._leave("skipped", note)
                else:
                    work(self.job, wait=not in_sweep)
        except lock.Held as holder:  # another sweep began it since this one looked
            self._leave("held", str(holder))
        if not in_sweep and self.says:
            print(*closing(entry, self.job.config["plugins"]), sep="\n", file=sys.stderr)

    def _leave(self, phase: str, note: str) -> None:
        """Tells the sweep that nothing was done. The other processes of a training, which cannot
        know, end with the first.
        """
        progress.end(phase, note)
        if self.job.source.trainer.processes > 1 and progress.FILE in os.environ:
            raise SystemExit(progress.LEFT)


def done(this: Job) -> bool:
    """True if nothing is left to do. With accept_rows=true the rows of another machine count, of a
    published checkpoint and of a run whose weights are here, too.
    """
    if this.run.trained and (this.stage == "train" or not evaluate.entry(this).missing()):
        return True
    return this.config["accept_rows"] and this.stage != "train" and evaluate.measured(this)


def warn_of_changes(this: Job) -> None:
    """Warns if a class of a plug-in is newer than weights, a checkpoint or rows of a job that it
    made: their names do not hold its code.
    """
    if not (plugins := this.config["plugins"]):
        return
    made = {}
    for training in this.trainings:
        run = training.run
        made[run.weights if run.trained else run.checkpoint] = run.identity
    if this.run.trained:  # rows of another machine have the age of a copy
        entry = evaluate.entry(this)
        made |= {entry.file(task).rows: evaluate.identity(this, task) for task in entry.tasks}
    newer: set[Path] = set()
    for path, identity in made.items():
        for name in re.findall(r"'_target_': '([\w.]+)\.\w+'", str(identity)):
            file = source(name) if name.split(".")[0] in plugins else None
            if file and path.exists() and path.stat().st_mtime < file.stat().st_mtime:
                newer.add(file)
    for file in sorted(newer):
        remedy = f"`extrap clean {this.study} --runs --rows` removes them"
        line = f"{file} is newer than runs and rows here, which stay as they are; {remedy}"
        warnings.warn(line, UserWarning, stacklevel=1)


def closing(entry: Entry, plugins: Sequence[str] = ()) -> list[str]:
    """Returns where the rows are, and commands that show and compare them."""
    more = f" --plugins {','.join(plugins)}" if plugins else ""
    if not entry.tasks:
        return [f"next: the same command with stage=evaluate measures {entry.run}"]
    return [
        f"rows: {entry.file('*').rows}",
        f"figures: extrap plot {entry.study}{more}",
        f"next: extrap table {entry.study}; the same with another extension=, to compare",
    ]


def work(this: Job, wait: bool = True) -> None:
    """Trains and measures. wait=False: raises lock.Held where another process trains the run."""
    this.run.fail(None, this.extension_stem)
    code = 1
    try:
        if this.stage != "evaluate":
            parent = Entry(this.study, this.source.run.name, DIRECT, {})
            if this.run.name != parent.run and not parent.path.exists():
                parent.write()  # the study of a tuned run uses its parent, too
            if not this.run.trained:
                from extrap.runs.train import train

                train(this, wait)
        if this.stage != "train":
            evaluate.evaluate(this)
            if this.refused:
                lines = (f"{error}; the other tasks were asked" for error in this.refused.values())
                raise UserError("\n".join(lines))
        code = 0
    except (BrokenPipeError, lock.Held):
        raise  # no fault of the run: a reader has gone, as in `| head`, or another trains it
    except Exception as found:
        error = blamed(found, this.config["plugins"]) or found
        line = str(error) if isinstance(error, UserError) else disk_fault(error)
        why = line or traceback.format_exception_only(error)[-1]
        this.run.fail(why, this.extension_stem)
        raise
    finally:
        this.dashboard.finish(code)
