"""The configuration of a job as plain values, which is all that the work of a job reads."""

from dataclasses import dataclass
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf


@dataclass(frozen=True)
class Composed:
    """A configuration with its references resolved. Jobs of a sweep share the values that are
    equal in all of them: change none.

    values     the options
    choices    the choice of each group
    overrides  the words of the command line
    sweep      True for a job of a sweep
    """

    values: dict[str, Any]
    choices: dict[str, str]
    overrides: list[str]
    sweep: bool


def plain(cfg: DictConfig) -> Composed:
    """Returns a configuration of Hydra as plain values. Raises OmegaConfBaseException for a missing
    value and a reference that leads nowhere.
    """
    hydra = HydraConfig.get() if "hydra" not in cfg else cfg.hydra
    options = OmegaConf.masked_copy(cfg, [str(name) for name in cfg if name != "hydra"])
    values: Any = OmegaConf.to_container(
        options, resolve=True, throw_on_missing=True, enum_to_str=True
    )
    words: Any = OmegaConf.to_container(hydra.overrides.task, resolve=False)
    return Composed(values, dict(hydra.runtime.choices), words, hydra.mode is RunMode.MULTIRUN)
