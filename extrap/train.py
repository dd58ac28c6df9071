"""Stage train: fit the model of a job, or go on where it stopped, and leave its weights in the run folder."""

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import lightning as L
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.utilities.exceptions import MisconfigurationException, SIGTERMException
from torch.utils.data import DataLoader, IterableDataset

from extrap import checkpoint, devices
from extrap.callbacks import Curve, Diverged, RandomState, Report
from extrap.checkpoint import Damaged
from extrap.data.mixture import Batch
from extrap.errors import UserError
from extrap.job import Job
from extrap.lit import Lit
from extrap.progress import Progress
from extrap.resume import Checkpoints
from extrap.runs import write_json


class FromStep(IterableDataset):
    """Batches from the trainer's global step on: batch t is a function of (seed, t), so a resumed run meets the same ones."""

    def __init__(self, job: Job, lit: Lit):
        self.batches, self.lit, self.steps = job.course.batches, lit, job.course.optim.steps

    def __iter__(self) -> Iterator[Batch]:
        trainer = self.lit.trainer
        for t in range(trainer.global_step, self.steps):
            yield devices.share(self.batches[t], trainer.global_rank, trainer.world_size)


def train(job: Job) -> None:
    """Does nothing where the run is finished. Raises whatever Lightning raises; a loss that is not finite marks the run diverged.

    Where the run is a tuned one, its parent is trained first.
    """
    run = job.run
    if run.trained:
        return
    if job.tuned is not None:
        _train_parent(job.tuned.parent)
    if devices.first():
        run.claim()
        run.unmark()
        job.start_dashboard()
    try:
        lit, curve, state = _fit(job)
    except Damaged as damaged:
        aside = damaged.path.with_suffix(".damaged")
        os.replace(damaged.path, aside)
        print(f"extrap: {damaged}; kept as {aside.name}, training starts again at step 0", file=sys.stderr)
        lit, curve, state = _fit(job)
    weights = devices.weights(lit.trainer.strategy)
    if not devices.first():
        return
    write_json(run.curve, {"points": curve.points})
    checkpoint.save(job.course.end(weights), run.weights)
    run.mark(state, lit.trainer.global_step, curve.seconds)
    run.checkpoint.unlink(missing_ok=True)


def _train_parent(parent: Job) -> None:
    """One process trains it, whatever else waits for it."""
    if not devices.first():  # it was trained before several processes began: see Tuned.check
        return
    with parent.run.alone():
        code = 1
        try:
            train(parent)
            code = 0
        finally:
            parent.dashboard.finish(code)


def _fit(job: Job) -> tuple[Lit, Curve, str]:
    """The module after its last step, the curve, and the state that the run ended in. Raises Damaged for a checkpoint that is no use."""
    run, course, steps = job.run, job.course, job.course.optim.steps
    lit, curve, state = Lit(course.begin(), course.optim, course.batches.mixture.weights), Curve(course.optim.log_every), "trained"
    with Progress("train" if job.tuned is None else "tune", steps) if devices.first() else nullcontext(_silent) as progress:
        callbacks = [curve, RandomState(), Report(progress, steps, curve)]
        logger = job.dashboard.lightning() if devices.first() else False
        trainer = _trainer(job, callbacks, logger, [Checkpoints(lit, steps)])
        loader = DataLoader(FromStep(job, lit), batch_size=None)
        try:
            trainer.fit(lit, loader, ckpt_path=run.checkpoint if os.path.lexists(run.checkpoint) else None, weights_only=True)
        except Diverged as error:
            state = "diverged"
            print(f"extrap: {run.name}: {error}; the run is marked diverged", file=sys.stderr)
        except SIGTERMException:
            raise KeyboardInterrupt from None  # Lightning would end the process with the exit code of success
    if state == "trained" and trainer.global_step < steps:
        raise UserError(f"trainer: ended at step {trainer.global_step} of train.steps={steps}; leave limits out of the trainer")
    return lit, curve, state


def check(job: Job, sweep: bool) -> None:
    """Raises UserError for a trainer this machine or Lightning does not have, or that is not for a job of a sweep."""
    for mixture in (job.mixture, job.course.batches.mixture):
        devices.check(job.trainer, {name: part.size for name, part in mixture.parts.items()}, sweep)
    _trainer(job, [], False, [])


def _silent(done: int, total: int | None = None, note: str = "") -> None:
    """The progress of a process that is not the first."""


def _trainer(job: Job, callbacks: list[L.Callback], logger: Any, plugins: list[Any]) -> L.Trainer:
    """A Trainer that says nothing of its own: progress, curve and checkpoints are ours."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    warnings.filterwarnings("ignore", message=".*LeafSpec", category=FutureWarning)  # lightning 2.6 on torch 2.13
    keep = ModelCheckpoint(job.run.folder, "last", every_n_train_steps=job.course.optim.save_every, enable_version_counter=False)
    try:
        return L.Trainer(
            **devices.strategy(job.trainer),
            max_steps=job.course.optim.steps,
            gradient_clip_val=job.course.optim.clip,
            callbacks=[*callbacks, keep],
            logger=logger,
            plugins=plugins,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=job.run.folder,
        )
    except (ValueError, TypeError, MisconfigurationException) as error:
        said = " ".join(f"trainer.{name}={value}" for name, value in job.trainer.items())
        raise UserError(f"{said}: {' '.join(str(error).split())}; trainer=cpu works everywhere") from None
