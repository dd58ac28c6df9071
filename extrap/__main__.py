"""`extrap`: one configuration trained, then evaluated. `extrap --help` lists the options."""

from omegaconf import DictConfig, OmegaConf

from extrap import cli, config


def job(cfg: DictConfig):
    """The Job of a composed configuration. Imports torch, which --help and --cfg job must not wait for."""
    from hydra.core.hydra_config import HydraConfig

    from extrap.job import Job

    choices = HydraConfig.get().runtime.choices if HydraConfig.initialized() else cfg.hydra.runtime.choices
    plain = OmegaConf.to_container(cfg, resolve=True, enum_to_str=True)
    return Job({key: value for key, value in plain.items() if key != "hydra"}, dict(choices))


def check(cfg: DictConfig) -> None:
    from extrap import train

    this = job(cfg)
    this.check()
    train.check(this)


def finished(cfg: DictConfig) -> bool:
    from extrap.evaluate import evaluated

    this = job(cfg)
    return this.run.trained and (this.stage == "train" or evaluated(this))


def run(cfg: DictConfig) -> None:
    import torch

    from extrap.evaluate import evaluate
    from extrap.train import train

    torch.set_num_threads(cfg.threads)
    this = job(cfg)
    with this.run.alone():
        try:
            if this.stage != "evaluate":
                train(this)
            if this.stage != "train":
                evaluate(this)
        finally:
            this.dashboard.finish()


def main() -> None:
    config.register()
    cli.main(cli.Program(run, check, finished))


if __name__ == "__main__":
    main()
