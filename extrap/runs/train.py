"""Stage train: fit the model of a job, or go on where it stopped, and leave its weights in the run
folder.
"""

import logging
import os
import sys
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from functools import cache
from inspect import signature
from typing import Any

import lightning as L
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.utilities.exceptions import SIGTERMException

from extrap.runs import checkpoint
from extrap.runs.checkpoint import Damaged
from extrap.runs.course import Course
from extrap.runs.folder import Run, write_json
from extrap.runs.job import Job
from extrap.runs.published import PublishedRun
from extrap.runs.training import devices
from extrap.runs.training.callbacks import (
    BetweenUpdates,
    Curve,
    Diverged,
    RandomState,
    Report,
    Schooling,
)
from extrap.runs.training.checkpoint_io import Checkpoints
from extrap.runs.training.feed import feed
from extrap.runs.training.lightning_module import Lit
from extrap.utils.errors import UserError
from extrap.utils.progress import Progress

TRAINER = (
    ValueError, TypeError, RuntimeError, ImportError, AttributeError, MisconfigurationException
)  # fmt: skip
"""What Lightning's Trainer raises for options that it does not take."""

GIVEN = {
    "max_steps": "train.steps says it",
    "gradient_clip_val": "train.clip says it",
    "gradient_clip_algorithm": "train.clip says it",
    "logger": "the group logger says it (logger=wandb)",
    "default_root_dir": "a run has its folder",
} | dict.fromkeys(
    (
        "callbacks",
        "plugins",
        "enable_checkpointing",
        "enable_progress_bar",
        "enable_model_summary",
        "use_distributed_sampler",
    ),
    "progress, checkpoints and shares of a batch are made here",
)
"""Arguments of a Trainer that are no options, and why."""


def train(job: Job) -> None:
    """Does nothing where the run is finished. Raises whatever Lightning raises; a loss that is not
    finite marks the run diverged.

    Where the run is a tuned one, its parent is trained first, unless others have published it.
    """
    if job.run.trained:
        return
    if (parent := job.course.parent) is not None:
        if isinstance(parent.run, PublishedRun):
            _note(parent.run)
        elif not parent.run.trained:
            _train_parent(job, parent)
    _train(job, job.course)


def _train(job: Job, course: Course) -> None:
    run = course.run
    if devices.first():
        run.claim()
        run.unmark()
        job.start_dashboard(course)
    try:
        lit, curve, state = _fit(job, course)
    except Damaged as damaged:
        if not devices.first():
            raise SystemExit(2) from None  # the first process says why
        aside = damaged.path.with_suffix(".damaged")
        os.replace(damaged.path, aside)
        said = f"{damaged}; kept as {aside.name}"
        if devices.processes(job.trainer) > 1:  # and the others have ended
            raise UserError(f"{said}, the same command starts again at step 0") from None
        print(f"extrap: {said}, training starts again at step 0", file=sys.stderr)
        lit, curve, state = _fit(job, course)
    weights = devices.weights(lit.trainer.strategy)
    if not devices.first():
        return
    if state == "trained" and not all(bool(w.isfinite().all()) for w in weights.values()):
        # what no point of the curve shows: what the last step made
        state = _diverged(run, f"the weights are not finite at step {lit.trainer.global_step}")
    write_json(run.curve, {"points": curve.points})
    checkpoint.save(course.end(weights), run.weights)
    run.mark(state, lit.trainer.global_step, curve.seconds)
    run.checkpoint.unlink(missing_ok=True)


def _note(run: PublishedRun) -> None:
    """The folder of a checkpoint says that there is nothing to train."""
    if devices.first():
        with run.alone():
            run.claim()


def _train_parent(job: Job, parent: Course) -> None:
    """One process trains it, whatever else waits for it."""
    if not devices.first():  # it was trained before several processes began: see FineTuned.check
        return
    with parent.run.alone():
        if parent.run.trained:
            return
        code = 1
        try:
            _train(job, parent)
            code = 0
        finally:
            job.dashboard.finish(code)


def _fit(job: Job, course: Course) -> tuple[Lit, Curve, str]:
    """The module after its last step, the curve, and the state that the run ended in. Raises
    Damaged for a checkpoint that is no use.
    """
    run, steps = course.run, course.optim.steps
    sent = devices.sharded(job.trainer) and not devices.first()
    lit, curve, state = (
        Lit(
            (course.outline() if sent else course.begin()).to(job.dtype),
            course.optim,
            course.batches.mixture.weights,
            devices.compiled(job.trainer),
            devices.recomputed(job.trainer),
        ),
        Curve(course.optim.log_every),
        "trained",
    )
    with Progress(course.verb, steps) if devices.first() else nullcontext(_silent) as progress:
        switches = course.batches.switches()
        callbacks: list[Callback] = [
            curve,
            Schooling(switches),
            RandomState(),
            Report(progress, steps, curve),
        ]
        logger = job.dashboard.lightning() if devices.first() else False
        trainer = _trainer(job, course, callbacks, logger, [Checkpoints(lit, steps)])
        loader = feed(course.batches, lit, switches, steps, job.trainer)
        try:
            trainer.fit(
                lit,
                loader,
                ckpt_path=run.checkpoint if os.path.lexists(run.checkpoint) else None,
                weights_only=True,
            )
        except Diverged as error:
            state = _diverged(run, str(error))
        except MisconfigurationException as error:  # what a Trainer looks at as it starts
            raise _refused(job, error) from None
        except SIGTERMException:
            # Lightning would end the process with the exit code of success
            raise KeyboardInterrupt from None
    if state == "trained" and trainer.global_step < steps:
        raise UserError(
            f"trainer: ended at step {trainer.global_step} of train.steps={steps}; leave limits "
            "out of the trainer"
        )
    return lit, curve, state


def _diverged(run: Run, why: str) -> str:
    """Says it once, and is the state of the run."""
    if devices.first():
        print(f"extrap: {run.name}: {why}; the run is marked diverged", file=sys.stderr)
    return "diverged"


def check(job: Job, sweep: bool) -> None:
    """Raises UserError for a trainer this machine or Lightning does not have, or that is not for a
    job of a sweep.
    """
    _check_names(job.trainer)
    _tell_of_warmup(job)
    own = [] if job.published else [job.mixture]
    for mixture in (*own, job.course.batches.mixture):
        devices.check(job.trainer, {name: part.size for name, part in mixture.parts.items()}, sweep)
    _trainer(job, job.course, [], False, [])


def _tell_of_warmup(job: Job) -> None:
    """Says that a training ends before its learning rate has reached its peak."""
    steps, warmup = job.course.optim.steps, job.course.optim.warmup
    group = "train" if job.course.parent is None else "finetune"
    if warmup > steps:
        line = (
            f"{group}.warmup={warmup}: {group}.steps={steps} end before the learning rate reaches "
            f"{group}.lr; give {group}.warmup={steps // 10}"
        )
        _say_once(line)


@cache
def _say_once(line: str) -> None:
    print(f"extrap: {line}", file=sys.stderr)


def _check_names(trainer: Mapping[str, Any]) -> None:
    """Raises UserError for what a Trainer does not take, is given here, or would end before its
    first step.
    """
    taken = {*signature(L.Trainer).parameters, *devices.OURS}
    for name, value in trainer.items():
        option = f"trainer.{name}={value}"
        if name in GIVEN:
            raise UserError(f"{option}: {GIVEN[name]}; leave it out")
        if name not in taken:
            raise UserError(f"{option}: no such option of Lightning's Trainer; leave it out")
        if (name, bool(value)) in (("fast_dev_run", True), ("limit_train_batches", False)):
            raise UserError(f"{option}: trains nothing; leave it out")


def _silent(done: int, total: int | None = None, note: str = "") -> None:
    """The progress of a process that is not the first."""


def _trainer(
    job: Job, course: Course, callbacks: list[L.Callback], logger: Any, plugins: list[Any]
) -> L.Trainer:
    """A Trainer that says nothing of its own: progress, curve and checkpoints are ours."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    warnings.filterwarnings(
        "ignore", message=".*LeafSpec", category=FutureWarning
    )  # lightning 2.6 on torch 2.13
    keep = BetweenUpdates(
        course.run.folder,
        "last",
        every_n_train_steps=course.optim.save_every,
        enable_version_counter=False,
    )
    try:
        return L.Trainer(
            **devices.strategy(job.trainer),
            max_steps=course.optim.steps,
            gradient_clip_val=None,  # Lit clips, by train.clip
            callbacks=[*callbacks, keep],
            logger=logger,
            plugins=[*plugins, *devices.environment(job.trainer)],
            enable_progress_bar=False,
            use_distributed_sampler=False,  # a share is taken of every batch
            enable_model_summary=False,
            default_root_dir=course.run.folder,
        )
    except TRAINER as error:
        raise _refused(job, error) from None


def _refused(job: Job, error: Exception) -> UserError:
    given = {name: value for name, value in job.trainer.items() if name not in devices.OURS}
    options = " ".join(f"trainer.{name}={value}" for name, value in given.items())
    return UserError(f"{options}: {' '.join(str(error).split())}; trainer=cpu works everywhere")
