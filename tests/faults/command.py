"""`extrap <words>` in this process: up to the moment when work would begin, which no mistake may
reach.

`whole` is the program as it is started. `shared` composes every choice of groups once and sets the
other options in a copy of it, as Hydra does, which takes a tenth of the time; both lead through the
same checks.
"""

import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf, open_dict

from extrap.cli import schema as config
from extrap.cli.commands import main
from extrap.cli.composed import plain
from extrap.cli.hydra_errors import explain
from extrap.cli.program import prepare
from extrap.cli.shared import reported
from extrap.cli.sweep.process import Process
from extrap.runs.experiment import Experiment
from extrap.utils.paths import conf_dir

GROUPS = {
    file.parent.relative_to(conf_dir()).as_posix() for file in Path(conf_dir()).rglob("*.yaml")
} | {"data@finetune.data"}
PLAIN = ("scheme", "extension", "model", "trainer")  # one file each, with no defaults of its own


def began(*args: object, **options: object) -> None:
    raise AssertionError("work began")


def whole(words: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("argv", ["extrap", *words]), ("path", list(sys.path))):
        monkeypatch.setattr(sys, name, value)
    monkeypatch.setattr(Process, "start", began)  # nor does a sweep begin
    for name in ("HYDRA_FULL_ERROR", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(Experiment, "run", began)
    main()


def shared(words: Sequence[str]) -> None:
    names = [word.lstrip("+").partition("=")[0] for word in words]
    chosen = [
        word
        for word, name in zip(words, names, strict=True)
        if name in GROUPS and name not in PLAIN
    ]
    others = [
        word for word, name in zip(words, names, strict=True) if name not in GROUPS or name in PLAIN
    ]
    with reported(explain=lambda error: explain(error, list(words), conf_dir())):
        cfg = set_in(composed(*chosen), others)
        prepare(plain(cfg)).check()
    began(cfg)


def set_in(cfg: DictConfig, words: Sequence[str]) -> DictConfig:
    """A copy of a configuration with other options, and other choices of the groups of one file
    each.
    """
    cfg = deepcopy(cfg)
    for override in OverridesParser.create().parse_overrides(list(words)):
        name, value = override.key_or_group, override.value()
        with open_dict(cfg):
            if name in PLAIN:
                cfg[name] = OmegaConf.load(f"{conf_dir()}/{name}/{value}.yaml")
                cfg.hydra.runtime.choices[name] = value
            else:
                OmegaConf.update(cfg, name, value, merge=True)
    return cfg


@cache
def composed(*choices: str) -> DictConfig:
    config.register()
    with initialize_config_dir(conf_dir(), version_base="1.3"):
        return compose("config", list(choices), return_hydra_config=True)


def told(call: Callable[[], None], capsys: pytest.CaptureFixture[str]) -> tuple[object, list[str]]:
    """Exit code and the lines on stderr of a call that ends in a mistake."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        call()
    out, err = capsys.readouterr()
    assert out == ""
    return end.value.code, err.splitlines()
