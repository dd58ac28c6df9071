"""Reads the configuration of every job of a sweep, so that every mistake shows before the first
job starts.
"""

import hashlib
import os
import shlex
import sys
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext
from omegaconf import DictConfig
from tqdm import tqdm

from extrap.cli.app import Work
from extrap.cli.composed import Composed, plain
from extrap.cli.hydra_errors import explained
from extrap.cli.sweep.display import summary
from extrap.cli.sweep.grid import selected
from extrap.cli.sweep.process import Process, State
from extrap.cli.sweep.ranks import wrapped
from extrap.cli.sweep.seeds import Leader, apart
from extrap.cli.sweep.varied import Varied
from extrap.runs import study
from extrap.runs.study import Entry
from extrap.utils.errors import NotApplicable, UserError, disk_fault

DELAY = 1.0
"""Seconds of reading after which a terminal shows how far it is."""


class Reader(Launcher):
    """A launcher that reads and checks every job, notes each in its study, runs the jobs and lists
    how they ended; with `lists` of the program it prints the jobs alone.
    """

    def setup(self, *, hydra_context: HydraContext, task_function: Any, config: DictConfig) -> None:
        """task_function: the program that `extrap.cli.app.main` runs."""
        self.varied = Varied(hydra_context.config_loader, config, plain)
        self.program, self.config = task_function, config
        _keep_importable(self.program.command[0])

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Returns an empty list, as the results of jobs are rows. Raises UserError with a line per
        mistake before the first job starts, SystemExit(1) in the end if a job failed.
        """
        began, shard = time.monotonic(), self.program.shard
        if shard is not None:
            job_overrides = [words for words in job_overrides if shard.holds(words)]
        jobs = self.jobs(job_overrides)
        shared = set.intersection(*(set(job.overrides) for job in jobs)) if len(jobs) > 1 else set()
        for job in jobs:
            job.label = " ".join(o for o in job.overrides if o not in shared) or "defaults"
        if self.program.lists:
            print(*(self._listed(job) for job in jobs), sep="\n")
            return []
        if not jobs:
            print("extrap: no job of this sweep is in this shard", file=sys.stderr)
            return []
        self.check([job for job in jobs if job.state is State.WAITING])
        study.write([job.entry for job in jobs if not job.reason])
        self.run(jobs)
        print(summary(jobs, time.monotonic() - began), file=sys.stderr)
        if any(job.state is State.FAILED for job in jobs):
            raise SystemExit(1)
        return []

    def check(self, jobs: list[Process]) -> None:
        """Raises UserError if the place of this launcher cannot run these jobs."""

    @abstractmethod
    def run(self, jobs: list[Process]) -> None:
        """Runs the waiting jobs to their end."""

    def left(self, jobs: list[Process]) -> list[Process]:
        """Returns the waiting jobs. A job that another process does is held, with a line: a
        cluster would keep devices idle for it. One whose run is trained for another study is not.
        """
        waiting = [job for job in jobs if job.state is State.WAITING]
        for job in waiting:
            if job.entry.done_elsewhere():
                job.state = State.HELD
        tell_held(waiting)
        return [job for job in waiting if job.state is State.WAITING]

    def jobs(self, batch: Sequence[Sequence[str]]) -> list[Process]:
        """Returns every job that differs from those before it, not yet started.

        Skips a job that makes no sense, with its reason, if others make sense. Raises UserError
        with a line per mistake.
        """
        found: dict[tuple[str, ...], Process] = {}
        wrong: dict[str, None] = {}
        leaders: dict[tuple[str, ...], Leader] = {}
        writers: dict[tuple[str, ...], tuple[str, Sequence[str]]] = {}
        for overrides in tqdm(batch, "reading jobs", delay=DELAY, disable=None, leave=False):
            try:
                values, job = self._read(list(overrides), leaders)
                if not job.reason:
                    _check_rows(job.entry, overrides, writers)
                found.setdefault(values, job)
            except UserError as error:
                wrong[str(error)] = None
            except Exception as error:
                if disk_fault(error):
                    raise
                raise RuntimeError(
                    f"a bug met while reading the job {' '.join(overrides)}"
                ) from error
        jobs = list(found.values())
        if not wrong and jobs and all(job.reason for job in jobs):
            wrong = {job.reason: None for job in jobs}
        if wrong:
            raise UserError("\n".join(wrong))
        return jobs

    def _read(
        self, overrides: list[str], leaders: dict[tuple[str, ...], Leader]
    ) -> tuple[tuple[str, ...], Process]:
        """Returns a job with what tells it from others: its values, hashed, its seed apart, and its
        names, as files of other names may hold equal options. leaders: by their other words.
        """
        words, seed = apart(overrides)
        if seed is not None and words in leaders:
            leader = leaders[words]
            if (job := leader.follower(seed)) is not None:
                job.overrides, job.command = overrides, _wrapped(job, self._command(overrides))
                return (leader.values, repr(seed), *_named(job)), job
        composed = self._composed(overrides)
        work = self.program.prepare(composed)
        state, reason = _state(work)
        command, entry = self._command(overrides), work.entry(self.program.typed)
        job = Process("", command, entry, state, reason, overrides=overrides)
        job.threads = composed.values.get("threads", 1)
        _place(job, composed.values.get("trainer") or {})
        job.save_minutes = (composed.values.get("train") or {}).get("save_minutes")
        others = {name: x for name, x in composed.values.items() if name != "seed"}
        described = repr((composed.choices.get("data"), others))  # rows name the data set
        values = hashlib.sha256(described.encode()).hexdigest()
        if seed is not None and self.varied.shares(overrides):
            checked = bool(reason) or (state is State.WAITING and not job.entry.folder.trained)
            leaders[words] = Leader(job, seed, values, work.run_of, checked)
        return (values, repr(composed.values.get("seed")), *_named(job)), job

    def _command(self, overrides: list[str]) -> list[str]:
        """The program again, with the job's options and the same folders of configuration files."""
        return [*self._start, *overrides, "hydra.mode=RUN"]  # of two modes the last one counts

    @cached_property
    def _start(self) -> list[str]:
        """The first words of the command of every job."""
        # -m alone puts the working folder first on the import path
        command = [sys.executable, "-P", "-m", *self.program.command, *self._folder]
        return [*command, *self.config.hydra.overrides.hydra]

    @cached_property
    def _folder(self) -> list[str]:
        """The words that name a folder of configuration files."""
        sources = self.config.hydra.runtime.config_sources
        folders = {source.provider: source.path for source in sources}
        return ["--config-dir", folders["command-line"]] if "command-line" in folders else []

    def _listed(self, job: Process) -> str:
        """Returns a job as a command, with the reason why a sweep would not start it."""
        note = job.reason or ("nothing left to do" if job.state is State.SKIPPED else "")
        paths = [o for o in self.config.hydra.overrides.hydra if o.startswith("hydra.searchpath=")]
        command = shlex.join(["extrap", *self._folder, *paths, *job.overrides])
        return command + (f"  # {note}" if note else "")

    def _composed(self, overrides: list[str]) -> Composed:
        """Returns the configuration that the job will see. Raises UserError."""
        with explained(overrides, self.program.conf):
            composed = self.varied(overrides)
        if composed.values.get("sweep", {}).get("grid") != selected(self.config, "grid"):
            problem = "has a grid of its own, which a job of a sweep cannot sweep"
            remedy = "start it by itself, or give sweep.grid=null"
            raise UserError(f"{' '.join(overrides)}: {problem}; {remedy}")
        return composed


def tell_held(jobs: Sequence[Process]) -> None:
    """Says how many of some jobs other processes do."""
    if not (held := sum(job.state is State.HELD for job in jobs)):
        return
    some, them = (f"{held} jobs are", "them") if held > 1 else ("1 job is", "it")
    line = f"{some} at work elsewhere; the same command takes up what is left of {them}"
    print(f"extrap: {line}", file=sys.stderr)


def _named(job: Process) -> tuple[str, str]:
    """Returns the names of a job in files."""
    return job.entry.run, job.entry.extension


def _keep_importable(program: str) -> None:
    """Puts the working folder on the import path of the jobs if this program was started from its
    source there, as `python -m extrap` does in a checkout that is not installed.
    """
    spec, here = find_spec(program), os.getcwd()
    if sys.path[0] not in ("", here) or spec is None or spec.origin is None:
        return
    packages = spec.submodule_search_locations
    source = Path(spec.origin).parents[1 if packages else 0]
    if source == Path(here) and here not in sys.path[1:]:
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join([*([before] if before else []), here])


def _place(job: Process, trainer: Mapping[str, Any]) -> None:
    """Gives a job the nodes, processes, workers and GPUs of its trainer."""

    def number(name: str, default: int) -> int:
        value = trainer.get(name, default)
        return value if type(value) is int else default

    job.nodes, job.processes = number("num_nodes", 1), number("devices", 1)
    job.workers = number("workers", 0)
    job.gpus = job.processes if trainer.get("accelerator") in ("gpu", "cuda") else 0
    job.command = _wrapped(job, job.command)


def _wrapped(job: Process, command: list[str]) -> list[str]:
    """Returns the command of a job. On a node, torch's launcher starts the processes of the job;
    several nodes have a launcher of their own.
    """
    return wrapped(command, job.processes) if job.nodes == 1 else command


def _check_rows(
    entry: Entry,
    overrides: Sequence[str],
    writers: dict[tuple[str, ...], tuple[str, Sequence[str]]],
) -> None:
    """Raises UserError for a job that would write over the rows of one before it."""
    for task, config in entry.tasks.items():
        key = (entry.study, entry.run, entry.extension, task)
        before, other = writers.setdefault(key, (config, overrides))
        if before != config:
            own = _not_in(overrides, other)
            theirs = _not_in(other, overrides)
            raise UserError(
                f"{own}: writes over the rows of {theirs} (task {task}, study {entry.study}); "
                "sweep one of them with another study=..."
            )


def _not_in(words: Sequence[str], others: Sequence[str]) -> str:
    """Returns the words of one job that another lacks."""
    return " ".join(word for word in words if word not in others) or "the job without it"


def _state(work: Work) -> tuple[State, str]:
    """Returns whether a job is to run, and why it makes no sense."""
    if work.finished():
        return State.SKIPPED, ""
    try:
        work.check()
    except NotApplicable as error:
        return State.SKIPPED, error.why
    return State.WAITING, ""
