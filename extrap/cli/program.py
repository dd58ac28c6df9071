"""`extrap`: one configuration trained, then evaluated. `extrap --help` lists the options."""

import shlex
from argparse import Namespace
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

from extrap.cli import app, config_schema
from extrap.cli.composed import Composed, composed
from extrap.cli.hydra_errors import groups
from extrap.cli.shared import advise
from extrap.utils.errors import UserError, choose
from extrap.utils.interrupts import held_back
from extrap.utils.paths import conf_dir

if TYPE_CHECKING:
    from extrap.runs.job import Job

OWN = ("scheme", "data.vocabulary")
"""Options that a published checkpoint replaces by its own positions and tokens."""

OF_TRAINING = (
    "train",
    *(f"data.{n}" for n in ("length", "text", "retrieval", "more", "curriculum")),
)
"""Options of training, which a checkpoint without tuning leaves unread."""
OF_TUNING = ("steps", "lr", "warmup", "final", "weight_decay", "log_every", "save_every")
REPLACED = (
    *(f"train.{name}" for name in (*OF_TUNING, "tokens")),
    *(f"data.{name}" for name in ("length", "lengths", "spread", "curriculum")),
)
"""Options of training that a tuned checkpoint leaves unread: tuning has its own."""


def job(found: Composed, given: Any = None) -> "Job":
    """Returns the Job of a configuration; given: the source of a model in a variable. Imports
    torch, which --help and --cfg job do without.
    """
    from extrap.cli.values import settled
    from extrap.runs.job import make

    plain, choices = dict(settled(found)), found.choices
    if not plain.get("task") and "~task" not in found.overrides:
        if plain["stage"] != "train":
            remedy = "name tasks, as in task=[nll,kv], or give stage=train"
            raise UserError("task", "[]", "nothing to measure", remedy)
        plain["task"] = {}
    known = [option.name for option in fields(config_schema.Config)]
    for name in plain.keys() - set(known):
        raise UserError(f"+{name}", problem="no such option", remedy=choose(name, known))
    for name in known:
        group = name in groups(conf_dir())
        if name not in plain or (group and plain[name] is None and name not in choices):
            raise UserError(name, problem="removed from the configuration", remedy=f"drop ~{name}")
        if group and name not in choices and name != "task":
            raise UserError(name, problem="a file gives a list", remedy=f"give one, {name}: NAME")
        if group and not isinstance(plain[name], dict | None if name == "finetune" else dict):
            remedy = f"choose a file of conf/{name}"
            raise UserError(name, plain[name], "expected the options of a choice", remedy)
    del plain["sweep"]  # no part of the identity of a run
    _check_read(plain, found.overrides, OWN[:1] if given is not None else OWN)
    _check_steps(plain, found.overrides)
    return make(plain, choices, given)


def one_job(args: Namespace) -> "Job":
    """Returns the Job of the words of a command line. Raises UserError."""
    advise()
    return job(composed(args.words, args.config_dir))


def _check_read(plain: dict[str, Any], overrides: list[str], own: tuple[str, ...]) -> None:
    """Raises UserError for an override that a checkpoint leaves unread; own: those it replaces."""
    from extrap.runs.choices import of_others

    if not of_others(plain):
        return
    unread = (*own, *(REPLACED if plain["finetune"] else OF_TRAINING))
    for override in overrides:
        option, _, value = override.partition("=")
        option = option.lstrip("+~").partition("@")[0].replace("/", ".")
        alone = not plain["finetune"] and (option == "data" or (option == "seed" and value != "0"))
        if alone or any(f"{option}.".startswith(f"{name}.") for name in unread):
            problem = "a published checkpoint leaves this option unread"
            raise UserError(override, problem=problem, remedy="drop it")


def _check_steps(plain: dict[str, Any], overrides: list[str]) -> None:
    """Raises UserError for steps in place of the tokens of an experiment, which give the steps."""
    words = [override.lstrip("+").partition("=") for override in overrides]
    given = {name: value for name, _, value in words}
    tokens = plain["train"].get("tokens")
    if tokens is not None and "train.steps" in given and "train.tokens" not in given:
        problem = f"train.tokens={tokens:g} gives the steps"
        raise UserError("train.steps", given["train.steps"], problem, "add train.tokens=null")


def prepare(found: Composed, command: str = "extrap") -> app.Work:
    """Returns the work of a configuration; command: as a person typed it."""
    with held_back():
        from extrap.runs.experiment import Experiment

        return Experiment(job(found), command, found.sweep)


def main(words: list[str]) -> None:
    config_schema.register()
    command = shlex.join(["extrap", *words])
    app.main(app.Program(partial(prepare, command=command)), words)
