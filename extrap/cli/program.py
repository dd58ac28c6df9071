"""`extrap`: one configuration trained, then evaluated. `extrap --help` lists the options."""

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from extrap.cli import app as cli
from extrap.cli import schema as config
from extrap.cli.composed import Composed
from extrap.cli.sweep.names import typed
from extrap.runs.layout import DIRECT
from extrap.runs.study import Entry
from extrap.utils import lock, progress
from extrap.utils.errors import UserError, choose, disk_fault
from extrap.utils.interrupts import held_back
from extrap.utils.paths import conf_dir
from extrap.utils.plugins import blamed

OWN = ("scheme", "data.vocabulary")
"""Options in whose place a published checkpoint has its own positions and tokens."""

OF_TRAINING = (
    "train",
    *(f"data.{n}" for n in ("length", "text", "retrieval", "more", "curriculum")),
)
"""Options that a checkpoint leaves unread that is not tuned either."""


_CHECKED: dict[tuple[str, bool], UserError | None] = {}
"""The result of the check for each kind of job of this process's sweep."""


def job(composed: Composed, given: Any = None):
    """Returns the Job of a configuration; given: the source of a model in a variable. Imports
    torch, which --help and --cfg job must not wait for.
    """
    from extrap.runs.job import make

    plain, choices = dict(composed.values), composed.choices
    if not plain.get("task") and "~task" not in composed.overrides:
        if plain["stage"] != "train":
            raise UserError(
                "task",
                "[]",
                "nothing to measure",
                "name tasks, as in task=[nll,kv], or give stage=train",
            )
        plain["task"] = {}
    known = [option.name for option in fields(config.Config)]
    for name in plain.keys() - set(known):
        raise UserError(f"+{name}", problem="no such option", remedy=choose(name, known))
    for name in known:
        group = name in _groups()
        if name not in plain or (group and plain[name] is None and name not in choices):
            raise UserError(name, problem="removed from the configuration", remedy=f"drop ~{name}")
        if group and name not in choices and name != "task":
            raise UserError(name, problem="a file gives a list", remedy=f"give one, {name}: NAME")
    del plain["sweep"]  # no part of the identity of a run
    _check_read(plain, composed.overrides, OWN[:1] if given is not None else OWN)
    return make(plain, choices, opened, given)


@cache
def _groups() -> set[str]:
    """Returns the options whose value is chosen from a folder of configuration files."""
    return {folder.name for folder in Path(conf_dir()).iterdir() if folder.is_dir()}


def _check_read(plain: dict[str, Any], overrides: list[str], own: tuple[str, ...]) -> None:
    """Raises UserError for an override that a published checkpoint leaves unread; own: options in
    whose place the model has its own.
    """
    from extrap.runs.published import Published

    if not Published.meant(plain):
        return
    unread = own if plain["finetune"] else (*own, *OF_TRAINING)
    for override in overrides:
        option, _, value = override.partition("=")
        option = option.lstrip("+~").partition("@")[0].replace("/", ".")
        alone = not plain["finetune"] and (option == "data" or (option == "seed" and value != "0"))
        if alone or any(f"{option}.".startswith(f"{name}.") for name in unread):
            problem = "a published checkpoint leaves this option unread"
            raise UserError(override, problem=problem, remedy="drop it")


def opened(source: Any) -> Any:
    """The corpus of a source, opened once however many jobs of a sweep read it."""
    return _opened(source, source.place)


@cache
def _opened(source: Any, place: str) -> Any:
    return source.open()


class Experiment:
    """The work of `extrap` for one job: train, then evaluate. command: what asked for it; what was
    typed by default.
    """

    def __init__(self, job, in_sweep: bool, command: str | None = None):
        self.job = job
        self.in_sweep = in_sweep
        self.command = command

    def finished(self) -> bool:
        return done(self.job)

    def check(self) -> None:
        """In a sweep the first job of each kind stands for the others. Raises UserError."""
        from extrap.runs import validate

        if not self.in_sweep:
            return self._check()
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
        from extrap.runs import validate

        validate.check(self.job)
        if self.job.run.trained:
            return
        if self.job.stage == "evaluate":
            # another job of a sweep may train it, and so may whoever works on it now
            if not self.in_sweep and self.job.run.holder() is None:
                from extrap.runs.evaluate import check_trained

                check_trained(self.job)
            return
        with held_back():
            from extrap.runs import train  # imports lightning, which evaluation does without

        train.check(self.job, self.in_sweep)

    def entry(self, command: str) -> Entry:
        from extrap.runs.evaluate import entry

        return entry(self.job, command)

    def run(self) -> None:
        import torch

        from extrap.runs.training import devices

        torch.set_num_threads(self.job.config["threads"])
        devices.settle(self.job.source.trainer)
        if not devices.first():  # the first process of this training holds the lock
            from extrap.runs.train import train

            return train(self.job)
        command = typed() if self.command is None else self.command
        entry, in_sweep = self.entry(command), progress.FILE in os.environ
        try:
            with ExitStack() as held:
                held.enter_context(self.job.run.alone_at(entry.work, wait=not in_sweep))
                if not in_sweep:  # which has written down its jobs, and says where progress goes
                    entry.write()
                    held.enter_context(progress.kept(entry.report))
                if done(self.job):
                    progress.end("skipped", note := f"{self.job.run.name}: nothing left to do")
                    if not in_sweep:
                        print(note, file=sys.stderr)
                else:
                    work(self.job, wait=not in_sweep)
        except lock.Held as holder:  # another sweep began it since this one looked
            progress.end("held", str(holder))
        if not in_sweep and self.command is None:
            lines = closing(entry, self.job.config["plugins"])
            print("\n".join(lines), file=sys.stderr)


def prepare(composed: Composed) -> Experiment:
    with held_back():
        return Experiment(job(composed), composed.sweep)


def done(this) -> bool:
    """Whether nothing is left to do. With accept_rows=true rows that another machine left count,
    though the run is not on this disk.
    """
    from extrap.runs.evaluate import entry, measured

    if this.run.trained:
        return this.stage == "train" or not entry(this).missing()
    return this.config["accept_rows"] and this.stage != "train" and measured(this)


def closing(entry: Entry, plugins: Sequence[str] = ()) -> list[str]:
    """Returns where the rows are, and commands that show and compare them. plugins: packages with
    figures of the user's own.
    """
    more = f" --plugins {','.join(plugins)}" if plugins else ""
    if not entry.tasks:
        return [f"next: the same command with stage=evaluate measures {entry.run}"]
    return [
        f"rows: {entry.file('*').rows}",
        f"figures: extrap plot {entry.study}{more}",
        f"next: extrap table {entry.study}; the same with another extension=, to compare",
    ]


def _note_parent(this) -> None:
    """Notes that the study of a tuned run uses its parent, too."""
    parent = Entry(this.study, this.source.run.name, DIRECT, {})
    if this.run.name != this.source.run.name and not parent.path.exists():
        parent.write()


def work(this, wait: bool = True) -> None:
    """Trains and measures. wait=False: raises lock.Held where another process trains the run."""
    from extrap.runs.evaluate import evaluate

    this.run.fail(None, this.extension_stem)
    code = 1
    try:
        if this.stage != "evaluate":
            _note_parent(this)
        if this.stage != "evaluate" and not this.run.trained:
            from extrap.runs.train import train

            with this.run.alone(wait):
                train(this)
        if this.stage != "train":
            evaluate(this)
            if this.refused:
                raise UserError(
                    "\n".join(
                        f"{error}; the other tasks were asked" for error in this.refused.values()
                    )
                )
        code = 0
    except (BrokenPipeError, lock.Held):
        raise  # no fault of the run: a reader has gone, as in `| head`, or another trains it
    except Exception as found:
        error = blamed(found, this.config["plugins"]) or found
        this.run.fail(
            str(error)
            if isinstance(error, UserError)
            else disk_fault(error) or traceback.format_exception_only(error)[-1],
            this.extension_stem,
        )
        raise
    finally:
        this.dashboard.finish(code)


def main() -> None:
    config.register()
    cli.main(cli.Program(prepare))
