"""The scheme or extension that `extrap judge` is asked about, and its trainings."""

import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from extrap.cli.sweep import machine
from extrap.cli.sweep.slots import OPTION as PER_DEVICE
from extrap.figures.drawing.paper import COLUMN, page
from extrap.utils.cores import cores
from extrap.utils.errors import UserError
from extrap.utils.progress import clock

if TYPE_CHECKING:
    from extrap.runs.job import Job

BASELINES = {"scheme": "reference", "extension": "extension"}
"""By the group that is judged: the study that it is compared with."""
ELSEWHERE = ("seed", "threads", "logger", "plugins", "trainer", "label", "task", "hydra")
"""Options that change no candidate."""
LONGEST = 80
"""Characters of a label."""


class Candidate(NamedTuple):
    """The scheme or extension to be judged.

    Args:
        words: choices and options as typed
        group: scheme or extension
        name: its choice
        label: of its rows
        folder: configuration files of your own
        paper: the page that its figures are drawn for
        recipes: how many recipes of the study grid it is trained under as well
    """

    words: tuple[str, ...]
    group: str
    name: str
    label: str
    folder: Path | None
    paper: str
    recipes: int

    @property
    def study(self) -> str:
        return "judge" if self.group == "scheme" else "judge-extension"

    def named(self) -> list[str]:
        """Returns the word that names its series, if it is not typed."""
        return [f"label={self.label}"] if typed(self.words, "label") is None else []

    @property
    def seeds(self) -> list[str] | None:
        """The seeds that are typed; None: those of the experiment."""
        given = typed(self.words, "seed")
        return None if given is None else given.split(",")

    @property
    def of_one_seed(self) -> list[str]:
        """The words with the first of the seeds that are typed."""
        return [one.partition(",")[0] if one.startswith("seed=") else one for one in self.words]

    @property
    def flags(self) -> list[str]:
        return [] if self.folder is None else ["--config-dir", str(self.folder)]

    @property
    def command(self) -> str:
        """The command that judges it."""
        paper = [] if self.paper == COLUMN else ["--paper", self.paper]
        recipes = ["--recipes", str(self.recipes)] if self.recipes else []
        return shlex.join(["extrap", "judge", *self.flags, *paper, *recipes, *self.words])


def candidate(
    words: Sequence[str], folder: Path | None = None, paper: str = COLUMN, recipes: int = 0
) -> Candidate:
    """Returns the candidate that words name. Raises UserError without one, for several, and for an
    unknown page of a paper.
    """
    page(paper)
    for group in ("extension", "scheme"):
        name = typed(words, group)
        if name is None:
            continue
        if "," in name or "(" in name:
            remedy = "judge each by a command of its own"
            raise UserError(group, name, "one candidate at a time", remedy)
        return Candidate(tuple(words), group, name, _label(words), folder, paper, recipes)
    remedy = "give scheme=NAME or extension=NAME, such as scheme=mine"
    raise UserError("scheme", problem="nothing to judge", remedy=remedy)


def typed(words: Sequence[str], option: str) -> str | None:
    """Returns the value that words give to an option, the last one; None without one."""
    values = [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]
    return values[-1] if values else None


def _label(words: Sequence[str]) -> str:
    """Returns `mine_slope0.1`: the scheme, and every option that makes another candidate of it."""
    given = typed(words, "label")
    if given is not None:
        return given
    label = typed(words, "scheme")
    if label is None:
        label = "rope"
    for word in sorted(words):
        option, _, value = word.partition("=")
        group = option.replace("/", ".").partition(".")[0].lstrip("+~")
        if option in BASELINES or group in (*ELSEWHERE, "extension"):
            continue
        name = re.split(r"[./]", option)[-1]
        label += "_" + re.sub(r"[^A-Za-z0-9_.-]", "", name) + re.sub(r"[^A-Za-z0-9.-]", "", value)
    return label[:LONGEST]


def train(asked: Candidate, experiment: str, job: "Job", seeds: Sequence[str], *more: str) -> None:
    """Runs the jobs of an experiment as a sweep, one for each seed, after a line that says how long
    what is left of them takes. Raises UserError if one fails: what is done stays, and the same
    command continues.
    """
    words = [*asked.flags, f"experiment={experiment}", *asked.words, *more]
    if left := unfinished(job, seeds):
        _foresee(asked, job, left)
    done = subprocess.run([sys.executable, "-P", "-m", "extrap", *words], check=False)
    if done.returncode == 130:
        raise KeyboardInterrupt
    if done.returncode:
        remedy = f"`extrap status {job.study}` says why; the same command continues"
        raise UserError("", problem="a run failed", remedy=remedy)


def unfinished(job: "Job", seeds: Sequence[str]) -> int:
    """Returns how many of these seeds of a job are not trained or lack rows."""
    from extrap.runs.evaluate import entry

    first = entry(job)
    model = job.run.name.removesuffix(f"-s{job.run.seed}")
    jobs = [replace(first, run=f"{model}-s{seed}") for seed in seeds]  # a seed as it is typed
    return sum(bool(one.missing()) for one in jobs)


def foresee_all(asked: Candidate, works: Sequence[tuple["Job", Sequence[str]]]) -> None:
    """Prints how long all trainings of a candidate take, under its own recipe and under others: a
    job and its seeds for each.
    """
    left = [(job, unfinished(job, seeds)) for job, seeds in works]
    if runs := sum(many for _, many in left):
        took = clock(sum(_seconds(asked, job, many) for job, many in left if many))
        line = f"{runs} runs under {len(works)} recipes, about {took} in all"
        print(f"extrap judge: {line}", file=sys.stderr, flush=True)


def _seconds(asked: Candidate, job: "Job", runs: int) -> float:
    """Returns about how many seconds so many runs of a job take."""
    from extrap.runs.foreseen import run_seconds

    return -(-runs // _side_by_side(asked, job)) * run_seconds(job)


def _foresee(asked: Candidate, job: "Job", runs: int) -> None:
    """Prints how long so many runs of a job take."""
    side = _side_by_side(asked, job)
    took = clock(_seconds(asked, job, runs))
    steps = sum(training.optim.steps for training in job.trainings)
    many = f"{runs} runs" if runs > 1 else "a run"
    line = f"{many} of {steps} steps, {min(side, runs)} side by side: about {took}"
    print(f"extrap judge: {line}; the same command continues", file=sys.stderr, flush=True)


def _side_by_side(asked: Candidate, job: "Job") -> int:
    """Returns how many runs of a job the sweep starts at once: as many as the GPUs hold, or the
    cores.
    """
    trainer = job.source.trainer
    if not trainer.gpus:
        return max(1, cores() // (job.config["threads"] * trainer.processes))
    packed = typed(asked.words, PER_DEVICE) or ""
    places = len(machine.devices()) // trainer.gpus
    return max(1, places * (int(packed) if packed.isdecimal() else 1))
