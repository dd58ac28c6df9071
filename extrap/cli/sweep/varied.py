"""Configurations of the jobs of a sweep: composed once for each choice of groups, then varied.

Composing takes a tenth of a second, most of it the same for every job: the files that the choices
of groups name. `Varied` puts plain options into a copy of the composed configuration, as Hydra
itself does after it has read the files. A copy has its own nodes where a job has options of its
own, and shares the others: a copy of everything takes five times as long as the rest.
"""

from collections.abc import Sequence, Set
from copy import deepcopy
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf, open_dict, read_write


class Varied:
    """loader: Hydra's; master: the configuration of the sweep as a whole."""

    def __init__(self, loader: Any, master: DictConfig) -> None:
        self.loader, self.master = loader, master
        self._groups: dict[str, bool] = {}
        self._bases: dict[tuple[str, ...], DictConfig] = {}

    def __call__(self, overrides: list[str]) -> DictConfig:
        """Returns what the loader composes of these overrides, until the next call. Raises what the
        loader raises.
        """
        try:
            cfg = self._varied(overrides)
        except Exception:  # the loader says what is wrong, in its own words
            cfg = None
        if cfg is None:
            cfg = self.loader.load_sweep_config(self.master, overrides)
        return cfg

    def _varied(self, overrides: list[str]) -> DictConfig | None:
        """None where more than plain options stands beside choices of groups."""
        parsed = OverridesParser.create().parse_overrides(overrides)
        if not all(map(_sets, parsed)):
            return None
        chosen = [one for one in parsed if self._group(one)]
        plain = [one for one in parsed if not self._group(one)]
        if not all(map(_plain, plain)):
            return None
        words = tuple(str(one.input_line) for one in chosen)
        if words not in self._bases:
            self._bases[words] = self.loader.load_sweep_config(self.master, list(words))
        own = {str(one.key_or_group).split(".")[0] for one in plain}
        cfg = sharing(self._bases[words], own)
        for one in plain:
            OmegaConf.update(cfg, one.key_or_group, one.value(), merge=True)
        with open_dict(cfg.hydra), read_write(cfg.hydra):
            cfg.hydra.overrides.task = overrides
            cfg.hydra.job.override_dirname = _folder(cfg, parsed)
        return cfg

    def _group(self, override: Override) -> bool:
        name = override.key_or_group
        if name not in self._groups:
            self._groups[name] = "/" in name or bool(self.loader.get_group_options(name))
        return self._groups[name]


def sharing(cfg: DictConfig, own: Set[str] = frozenset()) -> DictConfig:
    """A copy of a configuration with copies of these children; the others now belong to it."""
    made = object.__new__(DictConfig)  # copy(cfg) would copy every node
    made.__dict__.update(cfg.__dict__, _metadata=deepcopy(cfg.__dict__["_metadata"]))
    children = {
        name: deepcopy(child) if name in own else child
        for name, child in cfg.__dict__["_content"].items()
    }
    made.__dict__["_content"] = children
    for child in children.values():
        child._set_parent(made)
    return made


def _sets(override: Override) -> bool:
    """Whether it gives an option or a group a value, and adds or removes nothing."""
    return not (
        override.is_add()
        or override.is_force_add()
        or override.is_delete()
        or override.is_hydra_override()
    )


def _plain(override: Override) -> bool:
    return override.package is None and "${" not in str(override.input_line)


def _folder(cfg: DictConfig, overrides: Sequence[Override]) -> str:
    """`hydra.job.override_dirname`, as the loader makes it."""
    words = cfg.hydra.job.config.override_dirname
    kept = [one for one in overrides if one.key_or_group not in words.exclude_keys]
    lines = sorted(str(one.input_line) for one in kept)
    return str(words.item_sep.join(lines).replace("=", words.kv_sep))
