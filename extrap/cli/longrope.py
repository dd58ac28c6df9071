"""`extrap-longrope`: a factor per pair for the extension longrope, searched for a trained run and
left beside it as a choice.

extrap-longrope scheme=rope seed=0 extension=longrope extension.factor=8
extrap --config-dir runs/<run>/longrope stage=evaluate scheme=rope seed=0 extension=longrope-x8
"""

from omegaconf import DictConfig

from extrap.cli import app as cli
from extrap.cli import program
from extrap.cli import schema as config
from extrap.utils.errors import UserError


class Search:
    """The work of `extrap-longrope` for one trained run."""

    def __init__(self, job):
        self.job = job

    def finished(self) -> bool:
        return False

    def entry(self, command: str) -> None:
        return None

    def check(self) -> None:
        from extrap.extensions.longrope import LongRoPE
        from extrap.runs import validate
        from extrap.runs.longrope_search import texts

        job = self.job
        validate.check(job)
        if not isinstance(job.extension, LongRoPE) or job.extension.factor <= 1:
            raise UserError(
                f"extension={job.choices['extension']}: give extension=longrope and an "
                "extension.factor above 1 to search for"
            )
        if not job.run.trained:
            raise UserError(
                f"{job.run.name} is not trained yet; train it with `extrap stage=train` and the "
                "same options"
            )
        texts(job, int(job.extension.factor * job.length))

    def run(self) -> None:
        """Prints how to evaluate the factors that it finds."""
        import torch

        from extrap.runs.evaluate import trained_model
        from extrap.runs.longrope_search import find_factors, texts, write
        from extrap.utils.progress import Progress

        job = self.job
        torch.set_num_threads(job.config["threads"])
        s, name = job.extension.factor, f"longrope-x{job.extension.factor:g}"
        with Progress("search") as progress:
            factors = find_factors(trained_model(job), texts(job, int(s * job.length)), s, progress)
        folder = write(job.run.folder / "longrope", name, s, factors)
        print(f"extrap --config-dir {folder} stage=evaluate extension={name}")


def prepare(cfg: DictConfig) -> Search:
    return Search(program.job(cfg))


def main() -> None:
    config.register()
    cli.main(cli.Program(prepare, module="extrap.cli.longrope"))


if __name__ == "__main__":
    main()
