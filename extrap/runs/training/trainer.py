"""Lightning's Trainer as a run uses it: the options `trainer`, and those that extrap sets."""

import logging
import warnings
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import lightning as L
from lightning.fabric.plugins.environments.lightning import LightningEnvironment
from lightning.fabric.utilities.exceptions import MisconfigurationException

from extrap.runs.training.callbacks import BetweenUpdates
from extrap.runs.training.optim import Optim
from extrap.runs.training.options import TrainerOptions
from extrap.utils.errors import UserError

ERRORS = (
    ValueError, TypeError, RuntimeError, ImportError, AttributeError, MisconfigurationException
)  # fmt: skip
"""Errors of Lightning's Trainer about its options."""

SET = {
    "max_steps": "train.steps sets it",
    "gradient_clip_val": "train.clip sets it",
    "gradient_clip_algorithm": "train.clip sets it",
    "logger": "the group logger sets it (logger=wandb)",
    "default_root_dir": "extrap sets it to the folder of the run",
} | dict.fromkeys(
    (
        "callbacks",
        "plugins",
        "enable_checkpointing",
        "enable_progress_bar",
        "enable_model_summary",
        "use_distributed_sampler",
    ),
    "extrap sets it",
)
"""Arguments of a Trainer that are no options, and why."""


def trainer(
    options: TrainerOptions,
    optim: Optim,
    folder: Path,
    callbacks: Sequence[L.Callback] = (),
    logger: Any = False,
    plugins: Sequence[Any] = (),
) -> L.Trainer:
    """Returns a Trainer that prints nothing: extrap shows progress and curve. folder: of the run.
    Raises UserError for options that this machine or Lightning does not have.
    """
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    warnings.filterwarnings(
        "ignore", message=".*LeafSpec", category=FutureWarning
    )  # lightning 2.6 on torch 2.13
    keep = BetweenUpdates(
        folder, "last", every_n_train_steps=optim.save_every, enable_version_counter=False
    )
    # one process is in no cluster, where Lightning would wait for the other tasks
    alone = [LightningEnvironment()] if options.processes == 1 else []
    try:
        return L.Trainer(
            **dict(options.lightning) | _shards(options),
            max_steps=optim.steps,
            gradient_clip_val=None,  # Lit clips, by train.clip
            callbacks=[*callbacks, keep],
            logger=logger,
            plugins=[*plugins, *alone],
            enable_progress_bar=False,
            use_distributed_sampler=False,  # a share is taken of every batch
            enable_model_summary=False,
            default_root_dir=folder,
        )
    except ERRORS as error:
        raise rejected(options, error) from None


def _shards(options: TrainerOptions) -> dict[str, Any]:
    if not options.sharded:
        return {}
    from extrap.runs.training.shards import Shards

    return {"strategy": Shards(options.processes)}


def rejected(options: TrainerOptions, error: Exception) -> UserError:
    """Returns the error about options that Lightning rejects."""
    *rest, (name, value) = options.lightning.items()
    before = "".join(f"trainer.{name}={value} " for name, value in rest)
    problem = " ".join(str(error).split())
    return UserError(f"{before}trainer.{name}", value, problem, "trainer=cpu works everywhere")


def check_names(options: TrainerOptions) -> None:
    """Raises UserError for an option that a Trainer does not take, that extrap sets, or that would
    end training before its first step.
    """
    known = signature(L.Trainer).parameters
    for name, value in options.lightning.items():
        if name in SET:
            problem = SET[name]
        elif name not in known:
            problem = "Lightning's Trainer has no such option"
        elif (name, bool(value)) in (("fast_dev_run", True), ("limit_train_batches", False)):
            problem = "would train nothing"
        else:
            continue
        raise UserError(f"trainer.{name}", value, problem, "leave it out")
