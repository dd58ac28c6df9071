"""conf/sweep.yaml: the agents of W&B make commands of extrap."""

from itertools import product
from pathlib import Path

import yaml
from hydra import compose, initialize_config_dir

from extrap.cli import config_schema
from extrap.utils.paths import conf_dir


def test_every_combination_composes():
    """W&B puts `name=value` for each parameter in place of args_no_hyphens."""
    said = yaml.safe_load((Path(conf_dir()) / "sweep.yaml").read_text())
    assert said["command"] == ["extrap", "${args_no_hyphens}"]
    values = {
        name: given.get("values") or [given["value"]] for name, given in said["parameters"].items()
    }
    config_schema.register()
    seen = set()
    for chosen in product(*values.values()):
        words = [f"{name}={value}" for name, value in zip(values, chosen, strict=True)]
        with initialize_config_dir(conf_dir(), version_base="1.3"):
            cfg = compose("config", words)
        assert cfg.logger.mode == "online"
        seen.add((cfg.scheme["_target_"], cfg.seed))
    assert len(seen) == len(values["scheme"]) * len(values["seed"]) == said["run_cap"]
