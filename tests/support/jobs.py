"""Jobs as the command line composes them, without a process of their own."""

import os
import subprocess
import sys
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path

import torch
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf, open_dict, read_write

from extrap.cli import schema as config
from extrap.cli.sweep import grid
from extrap.runs import source
from extrap.runs.job import Job, make
from extrap.runs.training import devices
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
    source._opened.cache_clear()  # a process of its own reads its text anew
    return make(*composed(*tiny, *overrides))


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
    instance = HydraConfig.instance()
    before, instance.cfg = instance.cfg, deepcopy(cfg)  # what `${hydra:...}` refers to
    try:
        choices = OmegaConf.to_container(cfg.hydra.runtime.choices)
        with read_write(cfg), open_dict(cfg):
            del cfg["hydra"], cfg["sweep"]
        return OmegaConf.to_container(cfg, resolve=True, enum_to_str=True), choices
    finally:
        instance.cfg = before


def first_jobs(experiment: Path) -> list[list[str]]:
    """Returns the first values of each grid of an experiment file; of a glob, which the sweeper
    resolves, the default.
    """
    node = yaml.safe_load(experiment.read_text()).get("sweep", {}).get("grid")
    parser = OverridesParser.create()
    return [
        [
            f"{one.get_key_element()}={next(one.sweep_string_iterator())}"
            if one.is_sweep_override()
            else str(one.input_line)
            for one in parser.parse_overrides([word for word in words if "=glob(" not in word])
        ]
        for words in grid.overrides(node)
    ]


def started(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `extrap` with the options of TINY and these as a program, outside any launcher unless
    the environment says so.
    """
    kept = {name: value for name, value in os.environ.items() if name not in devices.RANKS}
    return subprocess.run(
        [sys.executable, "-m", "extrap", *TINY, *words],
        env=kept | {"PYTHONPATH": str(Path(__file__).parents[2])} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def weights(this: Job) -> dict[str, torch.Tensor]:
    """The trained weights of a job."""
    return torch.load(this.run.weights, weights_only=True)


def equal(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    """True if two sets of weights are the same to the bit."""
    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)


def alike(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor], atol: float = 1e-4) -> None:
    """Compares two sets of weights but for the bias of the keys: it moves no weight of attention,
    so its gradient is rounding alone, of which Adam makes steps.
    """
    assert a.keys() == b.keys()
    for name in a:
        one, two = (w.clone() for w in (a[name], b[name]))
        if name.endswith("qkv.bias"):
            one.view(3, -1)[1], two.view(3, -1)[1] = 0, 0
        assert torch.allclose(one, two, atol=atol, rtol=0), name
