"""Lightning's Trainer as a run uses it: the options `trainer`, and those that extrap sets."""

import logging
import warnings
from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import lightning as L
from lightning.fabric.utilities.exceptions import MisconfigurationException

from extrap.runs.training import devices
from extrap.runs.training.callbacks import BetweenUpdates
from extrap.runs.training.optim import Optim
from extrap.utils.errors import UserError

ERRORS = (
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


def trainer(
    options: Mapping[str, Any],
    optim: Optim,
    folder: Path,
    callbacks: Sequence[L.Callback] = (),
    logger: Any = False,
    plugins: Sequence[Any] = (),
) -> L.Trainer:
    """A Trainer that prints nothing: progress, curve and checkpoints are extrap's. folder: of the
    run. Raises UserError for options that this machine or Lightning does not have.
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
    try:
        return L.Trainer(
            **devices.strategy(options),
            max_steps=optim.steps,
            gradient_clip_val=None,  # Lit clips, by train.clip
            callbacks=[*callbacks, keep],
            logger=logger,
            plugins=[*plugins, *devices.environment(options)],
            enable_progress_bar=False,
            use_distributed_sampler=False,  # a share is taken of every batch
            enable_model_summary=False,
            default_root_dir=folder,
        )
    except ERRORS as error:
        raise rejected(options, error) from None


def rejected(options: Mapping[str, Any], error: Exception) -> UserError:
    """The line about options that Lightning rejects."""
    theirs = {name: value for name, value in options.items() if name not in devices.OURS}
    given = " ".join(f"trainer.{name}={value}" for name, value in theirs.items())
    return UserError(f"{given}: {' '.join(str(error).split())}; trainer=cpu works everywhere")


def check_names(options: Mapping[str, Any]) -> None:
    """Raises UserError for an option that a Trainer does not take, that extrap sets, or that would
    end training before its first step.
    """
    known = {*signature(L.Trainer).parameters, *devices.OURS}
    for name, value in options.items():
        option = f"trainer.{name}={value}"
        if name in GIVEN:
            raise UserError(f"{option}: {GIVEN[name]}; leave it out")
        if name not in known:
            raise UserError(f"{option}: no such option of Lightning's Trainer; leave it out")
        if (name, bool(value)) in (("fast_dev_run", True), ("limit_train_batches", False)):
            raise UserError(f"{option}: trains nothing; leave it out")
