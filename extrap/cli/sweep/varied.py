"""Configurations of the jobs of a sweep: composed once for each kind of job, then varied.

Composing takes a tenth of a second, most of it the same for every job: the files that the choices
of groups name. Jobs of one kind make the same choices and set the same options. `Varied` composes
the first job of a kind; of the others it sets the options, one by one as Hydra does after it has
read the files, and shares every other value with the first.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from extrap.cli.composed import Composed
from extrap.cli.sweep.grid import SCALAR


@dataclass(frozen=True)
class Kind:
    """A kind of jobs.

    Args:
        fixed: the words that its jobs share
        options: the options that one job sets
    """

    fixed: tuple[str, ...]
    options: dict[str, Any]

    @property
    def words(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names the kind."""
        return self.fixed, tuple(self.options)


class Varied:
    """The configurations of the jobs of a sweep, composed once for each kind of job.

    Args:
        loader: Hydra's
        master: the configuration of the sweep as a whole
        read: checks a configuration and makes it plain values
    """

    def __init__(
        self, loader: Any, master: DictConfig, read: Callable[[DictConfig], Composed]
    ) -> None:
        self.loader, self.master, self.read = loader, master, read
        self._groups: dict[str, bool] = {}
        # By the words of a kind: its configuration, set to the last job, and the values of its
        # first; None for one that holds references, so that each job is composed by itself.
        self._kinds: dict[tuple[tuple[str, ...], ...], tuple[DictConfig, Composed] | None] = {}

    def __call__(self, overrides: list[str]) -> Composed:
        """Returns the configuration of a job. Raises the errors of the loader and of `read`."""
        try:
            found = self._varied(overrides)
        except Exception:  # the loader raises it again
            found = None
        return found or self.read(self.loader.load_sweep_config(self.master, overrides))

    def shares(self, overrides: list[str]) -> bool:
        """True if the jobs of a kind, of which this one was composed, differ in the options that
        their words set and in nothing else: no other option refers to them.
        """
        kind = self._kind(overrides)
        return kind is not None and self._kinds.get(kind.words) is not None

    def _kind(self, overrides: list[str]) -> "Kind | None":
        """Returns None for a job that sets no option, or sets one in two ways."""
        words = list(map(parsed, overrides))
        options = {one.key_or_group: one.value() for one in words if self._sets(one)}
        fixed = [one for one in words if one.key_or_group not in options]
        more = [one.key_or_group for one in fixed if not self._group(one.key_or_group)]
        for name in options:
            if any(_overlap(name, other) for other in more):
                return None
        return Kind(tuple(str(one.input_line) for one in fixed), options) if options else None

    def _varied(self, overrides: list[str]) -> Composed | None:
        if (kind := self._kind(overrides)) is None:
            return None
        if kind.words not in self._kinds:
            cfg = self.loader.load_sweep_config(self.master, overrides)
            first = self.read(cfg)
            written: Any = OmegaConf.to_container(cfg, enum_to_str=True)
            refers = {name: written[name] for name in first.values} != first.values
            self._kinds[kind.words] = None if refers else (cfg, first)
            return first
        if (known := self._kinds[kind.words]) is None:
            return None
        cfg, first = known
        values = first.values
        for name, value in kind.options.items():
            OmegaConf.update(cfg, name, value, merge=True)
        for name in kind.options:
            values = put(values, name.split("."), _leaf(cfg, name))
        words = map(parsed, overrides)
        own = [str(one.input_line) for one in words if not one.is_hydra_override()]
        return replace(first, values=values, overrides=own, again=None)

    def _sets(self, one: Override) -> bool:
        """True for a word that gives an option of the program a plain value."""
        changes = one.is_add() or one.is_force_add() or one.is_delete() or one.is_hydra_override()
        if changes or one.package is not None or self._group(one.key_or_group):
            return False
        value, word = one.value(), str(one.input_line)
        values = value if isinstance(value, list) else [value]
        return all(type(v) in SCALAR for v in values) and "${" not in word and "???" not in word

    def _group(self, name: str) -> bool:
        if name not in self._groups:
            path = name.replace(".", "/")  # data.corpus=files is a mistake that `read` finds
            self._groups[name] = "/" in name or bool(self.loader.get_group_options(path))
        return self._groups[name]


@cache  # most words stand in many jobs
def parsed(word: str) -> Override:
    """Returns a word of the command line as Hydra parses it."""
    return OverridesParser.create().parse_override(word)


def _overlap(name: str, other: str) -> bool:
    """True if one of two options holds the other."""
    return f"{name}.".startswith(f"{other}.") or f"{other}.".startswith(f"{name}.")


def _leaf(cfg: DictConfig, name: str) -> Any:
    """Returns the value of an option that was set, in the type that the schema gives it."""
    value = OmegaConf.select(cfg, name)
    if OmegaConf.is_config(value):
        return OmegaConf.to_container(value)
    return value.name if isinstance(value, Enum) else value


def put(values: Any, path: list[str], value: Any) -> Any:
    """Returns the values with another one at a path, in which a number is a place in a list; shares
    the other values.
    """
    if not path:
        return value
    name, *inner = path
    if isinstance(values, list):
        place = int(name)
        return [*values[:place], put(values[place], inner, value), *values[place + 1 :]]
    return values | {name: put(values.get(name), inner, value)}
