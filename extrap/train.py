"""Stage train: fit the model of a job, or go on where it stopped, and leave its weights in the run folder."""

import io
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.utilities.exceptions import MisconfigurationException
from torch.utils.data import DataLoader, IterableDataset

from extrap import atomic
from extrap.callbacks import Curve, Diverged, RandomState, Report
from extrap.data.mixture import Batch
from extrap.errors import UserError
from extrap.job import Job
from extrap.lit import Lit
from extrap.progress import Progress
from extrap.runs import write_json


class FromStep(IterableDataset):
    """Batches from the trainer's global step on: batch t is a function of (seed, t), so a resumed run meets the same ones."""

    def __init__(self, job: Job, lit: Lit):
        self.batches, self.lit, self.steps = job.batches, lit, job.optim.steps

    def __iter__(self) -> Iterator[Batch]:
        for t in range(self.lit.trainer.global_step, self.steps):
            yield self.batches[t]


def train(job: Job) -> None:
    """Does nothing where the run is finished. Raises whatever Lightning raises; a loss that is not finite marks the run diverged."""
    run = job.run
    if run.trained:
        return
    run.folder.mkdir(parents=True, exist_ok=True)
    job.start_dashboard()
    write_json(run.folder / "config.json", {"label": run.label, "seed": run.seed, "identity": run.identity})
    lit, curve = Lit(job.model(), job.optim, job.mixture.weights), Curve(job.optim.log_every)
    state = "trained"
    with Progress("train", job.optim.steps) as progress:
        trainer = _trainer(job, [curve, RandomState(), Report(progress, job.optim.steps, curve)], job.dashboard.lightning())
        loader = DataLoader(FromStep(job, lit), batch_size=None)
        try:
            trainer.fit(lit, loader, ckpt_path=run.checkpoint if run.checkpoint.exists() else None, weights_only=True)
        except Diverged:
            state = "diverged"
    write_json(run.folder / "curve.json", {"points": curve.points})
    _save(lit.model, run.weights)
    run.mark(state, steps=trainer.global_step)
    run.checkpoint.unlink(missing_ok=True)


def check(job: Job) -> None:
    """Raises UserError for a trainer this machine or Lightning does not have."""
    _trainer(job, [], False)


def _trainer(job: Job, callbacks: list[L.Callback], logger: Any) -> L.Trainer:
    """A Trainer that says nothing of its own: progress, curve and checkpoints are ours."""
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    warnings.filterwarnings("ignore", message=".*LeafSpec", category=FutureWarning)  # lightning 2.6 on torch 2.13
    keep = ModelCheckpoint(job.run.folder, "last", every_n_train_steps=job.optim.save_every, enable_version_counter=False)
    try:
        return L.Trainer(
            **job.trainer,
            max_steps=job.optim.steps,
            gradient_clip_val=job.optim.clip,
            callbacks=[*callbacks, keep],
            logger=logger,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=job.run.folder,
        )
    except (ValueError, TypeError, MisconfigurationException) as error:
        said = " ".join(f"trainer.{name}={value}" for name, value in job.trainer.items())
        raise UserError(f"{said}: {' '.join(str(error).split())}") from None


def _save(model: torch.nn.Module, path: Path) -> None:
    whole = io.BytesIO()
    torch.save(model.state_dict(), whole)
    atomic.replace(path, whole.getvalue())
