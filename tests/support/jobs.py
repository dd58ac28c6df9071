"""Jobs as the command line composes them, without a process of their own."""

from collections.abc import Sequence
from copy import deepcopy
from functools import cache

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from extrap.cli import schema as config
from extrap.runs.job import Job
from extrap.utils.paths import conf_dir
from tests.support import discover

TINY = [
    "logger=none",
    *("train.steps=8", "train.log_every=2", "train.save_every=4", "train.warmup=2"),
    *("data.text.size=4", "data.retrieval.size=4"),
    *(
        "task.nll.multiples=[1,2]",
        "task.nll.documents=4",
        "task.kv.multiples=[1,2]",
        "task.kv.trials=10",
    ),
]


def job(*overrides: str, tiny: Sequence[str] = TINY) -> Job:
    """The Job of `extrap <overrides>`, small enough for a test by `tiny`; the default options stand
    unless overridden.
    """
    return Job(*composed(*tiny, *overrides))


def composed(*overrides: str) -> tuple[dict, dict]:
    """Returns the configuration of `extrap <overrides>` and the choices of its groups."""
    return deepcopy(_composed(overrides, tuple(discover.FOLDERS), tuple(discover.PLUGINS)))


@cache  # Hydra takes a fifth of a second, and many tests start from the same job
def _composed(overrides: tuple[str, ...], *_: tuple) -> tuple[dict, dict]:
    config.register()
    more = [f"file://{folder}" for folder in discover.FOLDERS[1:]]
    elsewhere = [f"hydra.searchpath={more}", f"plugins={discover.PLUGINS}"] if more else []
    with initialize_config_dir(conf_dir(), version_base="1.3"):
        cfg = compose("config", [*elsewhere, *overrides], return_hydra_config=True)
    plain = OmegaConf.to_container(cfg, resolve=False, enum_to_str=True)
    return plain, plain.pop("hydra")["runtime"]["choices"]
