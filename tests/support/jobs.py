"""Jobs as the command line composes them, without a process of their own."""

import subprocess
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path

import torch
import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser

from extrap.cli import composed as cli
from extrap.cli.sweep import grid
from extrap.cli.values import settled
from extrap.runs import texts
from extrap.runs.job import Job, make
from tests.support import discover
from tests.support.program import python

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
    texts.reopen()  # a process of its own reads its text anew
    return make(*composed(*tiny, *overrides))


def composed(*overrides: str) -> tuple[dict, dict]:
    """Returns the configuration of `extrap <overrides>` and the choices of its groups."""
    found = _composed(overrides, tuple(discover.FOLDERS), tuple(discover.PLUGINS))
    values = {name: value for name, value in settled(found).items() if name != "sweep"}
    return deepcopy(values), dict(found.choices)


@cache  # Hydra takes a fifth of a second, and many tests start from the same job
def _composed(overrides: tuple[str, ...], *_: tuple) -> cli.Composed:
    more = [f"file://{folder}" for folder in discover.FOLDERS[1:]]
    elsewhere = [f"hydra.searchpath={more}", f"plugins={discover.PLUGINS}"] if more else []
    one = "sweep.grid=null"  # of an experiment, whose first job is composed by its own words
    return cli.composed([*elsewhere, *overrides, one])


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
    """Runs `extrap` with the options of TINY and these as a program."""
    return python("-m", "extrap", *TINY, *words, **environment)


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
