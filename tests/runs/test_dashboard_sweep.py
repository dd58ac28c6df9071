"""conf/sweep.yaml: the agents of W&B make commands of extrap."""

from itertools import product
from pathlib import Path

import yaml
from hydra import compose, initialize_config_dir

from extrap.cli import schema as config
from extrap.utils.paths import conf_dir


def test_every_combination_composes():
    # its import takes a second, which no worker is to wait for that runs other tests
    from wandb.sdk.launch.sweeps.utils import create_sweep_command, create_sweep_command_args

    said = yaml.safe_load((Path(conf_dir()) / "sweep.yaml").read_text())
    values = {
        name: given.get("values") or [given["value"]] for name, given in said["parameters"].items()
    }
    config.register()
    seen = set()
    for chosen in product(*values.values()):
        args = create_sweep_command_args(
            {"args": {name: {"value": value} for name, value in zip(values, chosen, strict=True)}}
        )
        program, *rest = create_sweep_command(said["command"])
        assert (program, rest) == ("extrap", ["${args_no_hyphens}"])
        with initialize_config_dir(conf_dir(), version_base="1.3"):
            cfg = compose("config", args["args_no_hyphens"])
        assert cfg.logger.mode == "online"
        seen.add((cfg.scheme["_target_"], cfg.seed))
    assert len(seen) == len(values["scheme"]) * len(values["seed"]) == said["run_cap"]
