"""Configurations of the jobs of a sweep: composed once for each kind of job, then varied.

Composing takes a tenth of a second, most of it the same for every job: the files that the choices
of groups name. Jobs of one kind make the same choices and set the same options. `Varied` composes
the first job of a kind; of the others it sets the options, one by one as Hydra does after it has
read the files.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from extrap.cli.composed import Composed

SCALARS = (str, int, float, bool, type(None))


class Varied:
    """loader: Hydra's; master: the configuration of the sweep as a whole; read: checks a
    configuration and makes it plain values.
    """

    def __init__(
        self, loader: Any, master: DictConfig, read: Callable[[DictConfig], Composed]
    ) -> None:
        self.loader, self.master, self.read = loader, master, read
        self._groups: dict[str, bool] = {}
        self._kinds: dict[tuple[tuple[str, ...], ...], DictConfig] = {}

    def __call__(self, overrides: list[str]) -> Composed:
        """Returns the configuration of a job. Raises the errors of the loader and of `read`."""
        parsed = list(map(_parsed, overrides))
        options = {one.key_or_group: one.value() for one in parsed if self._sets(one)}
        fixed = [one for one in parsed if one.key_or_group not in options]
        kind = tuple(str(one.input_line) for one in fixed), tuple(options)
        if (cfg := self._kinds.get(kind)) is not None:
            with suppress(Exception):  # the loader raises it again
                for name, value in options.items():
                    OmegaConf.update(cfg, name, value, merge=True)
                own = [str(one.input_line) for one in parsed if not one.is_hydra_override()]
                return replace(self.read(cfg), overrides=own)
        cfg = self.loader.load_sweep_config(self.master, overrides)
        composed = self.read(cfg)
        inside = [one.key_or_group for one in fixed if not self._group(one.key_or_group)]
        twice = any(_overlap(name, other) for name in options for other in inside)
        refers = "${" in str(OmegaConf.masked_copy(cfg, list(composed.values)))
        if not twice and not refers:
            self._kinds[kind] = cfg
        return composed

    def _sets(self, one: Override) -> bool:
        """True for a word that gives an option of the program a plain value."""
        changes = one.is_add() or one.is_force_add() or one.is_delete() or one.is_hydra_override()
        if changes or one.package is not None or self._group(one.key_or_group):
            return False
        value, word = one.value(), str(one.input_line)
        values = value if isinstance(value, list) else [value]
        return all(type(v) in SCALARS for v in values) and "${" not in word and "???" not in word

    def _group(self, name: str) -> bool:
        if name not in self._groups:
            path = name.replace(".", "/")  # data.corpus=files is a mistake that `read` finds
            self._groups[name] = "/" in name or bool(self.loader.get_group_options(path))
        return self._groups[name]


@cache  # most words stand in many jobs
def _parsed(word: str) -> Override:
    return OverridesParser.create().parse_override(word)


def _overlap(name: str, other: str) -> bool:
    """True if one of two options holds the other."""
    return f"{name}.".startswith(f"{other}.") or f"{other}.".startswith(f"{name}.")
