"""The schema of the top level of a configuration, which Hydra checks before anything starts.

Groups (scheme, data, model, ...) are typed by the constructors they describe: extrap/runs/build.py.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hydra.core.config_store import ConfigStore

from extrap.cli.sweep.grid import Sweep
from extrap.runs.training.optim import Optim


class Stage(Enum):
    train = "train"
    evaluate = "evaluate"
    all = "all"


@dataclass
class Config:
    """The top level of a configuration.

    Args:
        study: rows and figures go to results/<study>
        stage: train, evaluate or all
        seed: of weights and batches
        threads: cores of one job
        label: name of the series in tables and figures; null: the name of the scheme
        plugins: your own packages, whose classes extrap may build
        keep_going: measure the other tasks if one cannot run
        accept_rows: rows of another machine count as done
    """

    study: str = "main"
    stage: Stage = Stage.all
    seed: int = 0
    threads: int = 1
    label: str | None = None
    plugins: list[str] = field(default_factory=list)
    keep_going: bool = False
    accept_rows: bool = False
    scheme: Any = None
    extension: Any = None
    finetune: Any = None
    model: Any = None
    data: Any = None
    task: Any = None
    train: Optim = field(default_factory=Optim)
    trainer: Any = None
    logger: Any = None
    sweep: Sweep = field(default_factory=Sweep)


def register() -> None:
    """Makes the schema known to Hydra as `schema`, the first default of conf/config.yaml."""
    ConfigStore.instance().store(name="schema", node=Config)
