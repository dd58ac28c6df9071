"""Lightning's Trainer as a run uses it: the options `trainer`, and the options that extrap sets."""

import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import lightning as L
from lightning.fabric.plugins.environments.cluster_environment import ClusterEnvironment
from lightning.fabric.plugins.environments.lightning import LightningEnvironment
from lightning.fabric.plugins.environments.slurm import SLURMEnvironment
from lightning.fabric.plugins.environments.torchelastic import TorchElasticEnvironment
from lightning.fabric.plugins.io.torch_io import TorchCheckpointIO
from lightning.fabric.utilities.exceptions import MisconfigurationException

from extrap.runs.checkpoint import check_weights, damaged, load, save
from extrap.runs.training import devices
from extrap.runs.training.callbacks import FORWARDS, BetweenUpdates
from extrap.runs.training.optim import Optim
from extrap.runs.training.options import TrainerOptions
from extrap.utils.errors import UserError

ERRORS = (
    ValueError, TypeError, RuntimeError, ImportError, AttributeError, MisconfigurationException
)  # fmt: skip
"""Errors of Lightning's Trainer about its options."""


@contextmanager
def quiet() -> Iterator[None]:
    """Inside, Lightning logs errors alone."""
    loggers = [logging.getLogger(name) for name in ("lightning.pytorch", "lightning.fabric")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def trainer(
    options: TrainerOptions,
    optim: Optim,
    folder: Path,
    callbacks: Sequence[L.Callback] = (),
    logger: Any = False,
    plugins: Sequence[Any] = (),
    sweep: bool = False,
) -> L.Trainer:
    """Returns a Trainer, which prints nothing inside `quiet`. Raises UserError for options that
    cannot work here. sweep: it only checks them, and a launcher will start the processes.
    """
    warnings.filterwarnings("ignore", module="lightning")
    # of lightning 2.6 on torch 2.13
    warnings.filterwarnings("ignore", message=".*LeafSpec", category=FutureWarning)
    often: dict[str, Any]
    keep = []
    for often in (
        {"every_n_train_steps": optim.save_every},
        {"train_time_interval": timedelta(minutes=optim.save_minutes)},
    ):
        keep.append(BetweenUpdates(folder, "last", **often, enable_version_counter=False))
    given: dict[str, Any] = {"accelerator": options.accelerator} | dict(options.lightning)
    if options.strategy == "fsdp":
        from extrap.runs.training.shards import Shards

        given["strategy"] = Shards(options.processes)
    try:
        made = L.Trainer(
            **given,
            max_steps=optim.steps,
            gradient_clip_val=None,  # Lit clips, by train.clip
            callbacks=[*callbacks, *keep],
            logger=logger,
            plugins=[*plugins, *environment(options, sweep)],
            enable_progress_bar=False,
            use_distributed_sampler=False,  # a share is taken of every batch
            enable_model_summary=False,
            default_root_dir=folder,
        )
    except ERRORS as error:
        raise rejected(options, error) from None
    if made.world_size != options.processes:
        problem = f"makes {options.processes} processes, and {made.world_size} have started"
        remedy = "start as many tasks with srun or torchrun, or none on one node"
        raise UserError("trainer.devices", options.devices, problem, remedy)
    return made


def environment(options: TrainerOptions, sweep: bool) -> list[ClusterEnvironment]:
    """Returns who starts the processes, [] where Lightning finds it out. In any allocation of SLURM
    Lightning would wait for its tasks, or train in as many as there are.
    """
    if options.processes == 1 or sweep:
        return [LightningEnvironment()]
    if devices.by_slurm(options):  # Lightning would queue the job again by itself
        return [SLURMEnvironment(auto_requeue=False)]
    torchrun = TorchElasticEnvironment.detect()
    own = options.num_nodes == 1 and "SLURM_NTASKS" in os.environ and not torchrun
    return [LightningEnvironment()] if own else []


def rejected(options: TrainerOptions, error: Exception) -> UserError:
    """Returns the error about the options that Lightning's message names, or about all options."""
    problem, given = " ".join(str(error).split()), options.lightning
    named = [name for name in given if f"'{name}'" in problem or f"{name}=" in problem]
    *rest, (name, value) = ((name, given[name]) for name in named or given)
    before = "".join(f"trainer.{name}={value} " for name, value in rest)
    if "multiple values for keyword" in problem:
        problem = "extrap sets it"
    remedy = "leave it out" if isinstance(error, TypeError) else "trainer=cpu works everywhere"
    return UserError(f"{before}trainer.{name}", value, problem, remedy)


class Checkpoints(TorchCheckpointIO):
    """The checkpoints of `module` for Lightning, whose own neither wait for the disk nor replace a
    file at once. Raises UserError for another number of forwards a step: Lightning counts them from
    the start of the run, and batches would mix.
    """

    def __init__(self, module: L.LightningModule):
        self.module = module

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None
    ) -> None:
        save(checkpoint, Path(path))

    def load_checkpoint(
        self, path: str | Path, map_location: Any = "cpu", weights_only: bool | None = True
    ) -> dict[str, Any]:
        """Reads a checkpoint as data. Raises UserError unless it fits this model."""
        path = Path(path)
        checkpoint = load(path, map_location)
        if not isinstance(checkpoint, dict) or "state_dict" not in checkpoint:
            raise damaged(path, "not a checkpoint of a training")
        check_weights(checkpoint["state_dict"], self.module, path)
        now = self.module.trainer.accumulate_grad_batches
        if (before := checkpoint.get(FORWARDS, now)) != now:
            problem = f"this run began with {before} forwards a step, and goes on with them"
            remedy = f"give {before}, or remove {path} to begin again"
            raise UserError("trainer.accumulate_grad_batches", now, problem, remedy)
        return checkpoint
