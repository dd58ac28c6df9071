"""Which library computes the linear layers of a run on a CPU: the option `linear`.

    torch     torch's own choice, MKL where it is built in
    onednn    oneDNN wherever it computes the same in float32 (extrap/model/linear.py)
    auto      oneDNN where a measurement of .1 s says that it is clearly faster

It is no part of the identity of a run, like the machine and its number of threads: values agree to
float32 rounding. The bits do not, so `auto` is decided once for a command and all the jobs that it
starts, and written into the config.json of a run: what continues or evaluates it computes as its
training did, whatever the option says then.
"""

import os
from collections.abc import Mapping
from typing import Any, get_args

from extrap.model.linear import Word, available, measure
from extrap.runs.folder import Folder, read_json
from extrap.runs.training.devices import processes
from extrap.utils.errors import UserError

DECIDED = "EXTRAP_LINEAR"
"""In the environment of a command's jobs: what `auto` means for all of them."""

CLEAR = 0.75
"""Share of torch's time below which `auto` is oneDNN: .5 on AMD, about 1 where MKL is fast."""


def choose(option: str, trainer: Mapping[str, Any], run: Folder) -> Word:
    """The library of this run. Raises UserError for an option that is none, or oneDNN where torch
    has none.
    """
    if option not in (words := ("auto", *get_args(Word))):
        raise UserError(f"linear={option}: one of {', '.join(words)}")
    if option == "onednn" and not available():
        raise UserError("linear=onednn: not part of this torch; linear=auto takes what there is")
    config = read_json(run.folder / "config.json")
    if "identity" in config:  # runs older than the option were trained by torch
        return "onednn" if config.get("linear") == "onednn" else "torch"
    if option != "auto":
        return option  # type: ignore[return-value]
    several = processes(trainer) > 1  # each would measure for itself
    return "torch" if several or trainer.get("accelerator") != "cpu" else _decided()


def _decided() -> Word:
    """What `auto` means for this command, and for the jobs that inherit its environment."""
    word = os.environ.get(DECIDED)
    if word not in get_args(Word):
        word = "onednn" if available() and measure() < CLEAR else "torch"
        os.environ[DECIDED] = word
    return "onednn" if word == "onednn" and available() else "torch"
