"""`extrap`: one configuration trained, then evaluated. `extrap --help` lists the options."""

import os
import traceback
from functools import cache
from typing import Any

from omegaconf import DictConfig, OmegaConf

from extrap.cli import app as cli, schema as config
from extrap.utils import progress
from extrap.utils.errors import UserError
from extrap.runs.study import Entry
from extrap.cli.sweep.names import typed


def job(cfg: DictConfig):
    """The Job of a composed configuration. Imports torch, which --help and --cfg job must not wait for."""
    from hydra.core.hydra_config import HydraConfig

    from extrap.runs.job import Job

    choices = HydraConfig.get().runtime.choices if HydraConfig.initialized() else cfg.hydra.runtime.choices
    plain = OmegaConf.to_container(cfg, resolve=True, enum_to_str=True)
    return Job({key: value for key, value in plain.items() if key != "hydra"}, dict(choices), opened)


def opened(source: Any) -> Any:
    """The corpus of a source, looked at once however many jobs of a sweep read it."""
    return _opened(source, source.place)


@cache
def _opened(source: Any, place: str) -> Any:
    return source.open()


def check(cfg: DictConfig) -> None:
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    this = job(cfg)
    this.check()
    if this.run.trained:
        return
    from extrap.runs import train  # imports lightning, which evaluation does without

    train.check(this, HydraConfig.initialized() and HydraConfig.get().mode is RunMode.MULTIRUN)


def finished(cfg: DictConfig) -> bool:
    return done(job(cfg))


def entry(cfg: DictConfig, command: str) -> Entry:
    return noted(job(cfg), command)


def done(this) -> bool:
    from extrap.runs.evaluate import evaluated

    return this.run.trained and (this.stage == "train" or evaluated(this))


def noted(this, command: str) -> Entry:
    from extrap.runs.evaluate import planned

    tasks = {} if this.stage == "train" else planned(this)
    return Entry(this.study, this.run.name, this.extension_stem, tasks, command)


def own(this) -> None:
    """Notes that the study of a tuned run uses its parent, too."""
    parent = Entry(this.study, this.tuned.parent.run.name, "direct", {})
    if not parent.path.exists():
        parent.write()


def run(cfg: DictConfig) -> None:
    import torch

    from extrap.runs.training import devices

    torch.set_num_threads(cfg.threads)
    this = job(cfg)
    if not devices.first():  # it helps to train what the first process holds the lock of
        from extrap.runs.train import train

        return train(this)
    with this.run.alone():
        if progress.FILE not in os.environ:  # a sweep has written down its jobs
            noted(this, typed()).write()
        if done(this):
            progress.skipped(f"{this.run.name}: nothing left to do")
        else:
            work(this)


def work(this) -> None:
    from extrap.runs.evaluate import evaluate

    this.run.fail(None)
    code = 1
    try:
        if this.stage != "evaluate" and this.tuned is not None:
            own(this)
        if this.stage != "evaluate" and not this.run.trained:
            from extrap.runs.train import train

            train(this)
        if this.stage != "train":
            evaluate(this)
            if this.refused:
                raise UserError("\n".join(f"{error}; the other tasks were asked" for error in this.refused.values()))
        code = 0
    except Exception as error:
        this.run.fail(str(error) if isinstance(error, UserError) else traceback.format_exception_only(error)[-1])
        raise
    finally:
        this.dashboard.finish(code)


def main() -> None:
    config.register()
    cli.main(cli.Program(run, check, finished, entry))


if __name__ == "__main__":
    main()
