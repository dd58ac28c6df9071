"""The configuration of a job as plain values: the work of a job reads nothing else."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import setup_globals
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from extrap.cli import config_guard, config_schema
from extrap.cli.apart import own_hydra
from extrap.cli.config_budget import counted
from extrap.cli.config_files import limited
from extrap.cli.hydra_errors import check_choices, explained
from extrap.cli.sweep.grid import selected
from extrap.cli.words import readable
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir


@dataclass(frozen=True)
class Composed:
    """A configuration with its references resolved. Jobs of a sweep share the values that are
    equal in all of them: change none.

    values     the options
    choices    the choice of each group
    overrides  the words of the command line
    sweep      True for a job of a sweep
    folders    folders of configuration files
    again      returns the options with these numbers in them, by option, so that references to
               them follow; None if no option refers to another
    """

    values: dict[str, Any]
    choices: dict[str, str]
    overrides: list[str]
    sweep: bool
    folders: tuple[str, ...] = ()
    again: Callable[[Mapping[str, Any]], dict[str, Any]] | None = field(
        default=None, repr=False, compare=False
    )


def plain(cfg: DictConfig) -> Composed:
    """Returns a configuration of Hydra as plain values. Raises OmegaConf's error for a value that
    is missing or cannot be resolved, UserError for one that is put where a group's choice belongs
    and for more than one configuration may hold.
    """
    instance: Any = HydraConfig.instance()
    before = instance.cfg
    if "hydra" in cfg:  # else Hydra runs this job and has set it
        instance.cfg = cfg
    hydra = HydraConfig.get()
    try:
        with limited(), counted():
            values = {str(name): _plain(cfg[name]) for name in cfg if name != "hydra"}
            _check_names(values)
    finally:
        instance.cfg = before
    words: Any = OmegaConf.to_container(hydra.overrides.task, resolve=False)
    choices = dict(hydra.runtime.choices)
    check_choices(words, choices)
    files = (one.path for one in hydra.runtime.config_sources if one.schema == "file")

    def again(numbers: Mapping[str, Any]) -> dict[str, Any]:
        if not any(_refers(cfg._get_node(name)) for name in values):
            return values
        own = deepcopy(cfg)
        for option, number in numbers.items():
            OmegaConf.update(own, option, number)
        if "hydra" not in own:
            return plain(own).values
        with own_hydra():  # as other programs of this process may hold another one by now
            setup_globals()
            return plain(own).values

    sweep = hydra.mode is RunMode.MULTIRUN
    return Composed(values, choices, words, sweep, tuple(files), again)


def _plain(value: Any) -> Any:
    """Returns an option, which a reference may give in the type of its schema, as a plain value."""
    if OmegaConf.is_config(value):
        return OmegaConf.to_container(value, resolve=True, throw_on_missing=True, enum_to_str=True)
    return value.name if isinstance(value, Enum) else value


def _refers(node: Any) -> bool:
    """True if an option refers to another one."""
    if OmegaConf.is_config(node):
        return "${" in repr(OmegaConf.to_container(node, resolve=False, enum_to_str=True))
    return "${" in str(node)


def _check_names(node: Any) -> None:
    """Raises UserError for a mapping whose keys are text and something else, such as `1: 2`."""
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    if isinstance(node, dict) and len({type(name) for name in node}) > 1:
        other = next(name for name in node if not isinstance(name, str))
        raise UserError(f"{other}: {other!r} names no option; the name of an option is text")
    for one in inside:
        _check_names(one)


def composed(words: Sequence[str], config_dir: Path | None = None) -> Composed:
    """Returns what `extrap WORDS` composes, inside any Python process: whatever Hydra holds there
    of another program stays as it was. Raises UserError as the command line does, and for words
    that make a sweep.
    """
    words = readable(list(words))
    with own_hydra(), explained(words, conf_dir()), limited():
        config_schema.register()
        cfg = config_guard.checked(conf_dir(), words, config_dir)
        parsed = OverridesParser.create().parse_overrides(words)
        swept = [one.input_line for one in parsed if one.is_sweep_override()]
        if swept or selected(cfg, "grid"):
            several = [*swept, "sweep.grid"][0]
            raise UserError(f"{several}: makes a sweep of several jobs; give one value")
        return plain(cfg)
