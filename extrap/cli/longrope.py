"""`extrap longrope`: a factor per pair for the extension longrope, searched for a trained run.

extrap longrope scheme=rope seed=0 extension=longrope extension.factor=8

It prints the command that evaluates the factors.
"""

import shlex

from extrap.cli import app as cli
from extrap.cli import help, program
from extrap.cli import schema as config
from extrap.cli.composed import Composed
from extrap.cli.sweep.names import words
from extrap.utils.errors import UserError


class Search:
    """The work of `extrap longrope` for one trained run."""

    def __init__(self, job):
        self.job = job

    def finished(self) -> bool:
        return False

    def entry(self, command: str) -> None:
        return None

    def check(self) -> None:
        from extrap.extensions.longrope import LongRoPE
        from extrap.extensions.longrope_search import texts
        from extrap.runs import validate
        from extrap.runs.near import untrained

        job = self.job
        validate.check(job)
        if not isinstance(job.extension, LongRoPE) or job.extension.factor <= 1:
            raise UserError(
                "extension",
                job.choices["extension"],
                "give extension=longrope and an extension.factor above 1 to search for",
            )
        if not job.run.trained:
            remedy = "train it with `extrap stage=train` and the same options"
            raise untrained(job.run, "extension", job.choices["extension"], remedy)
        self.texts = texts(
            job.source.corpus,
            job.source.vocabulary.bos,
            int(job.extension.factor * job.source.length),
        )

    def run(self) -> None:
        """Prints the command that evaluates the factors."""
        import torch

        from extrap.extensions.longrope_search import find_factors
        from extrap.runs.evaluate import trained_model
        from extrap.utils.progress import Progress

        job = self.job
        torch.set_num_threads(job.config["threads"])
        s = job.extension.factor
        with job.run.alone(), Progress("search") as progress:
            print(command(find_factors(trained_model(job), self.texts, s, progress)))


def command(factors: list[float]) -> str:
    """What was typed, as the command that evaluates these factors."""
    mine = ("stage=", "extension.long=")
    typed = [word for word in words() if not word.lstrip("+").startswith(mine)]
    long = f"extension.long=[{','.join(f'{f:g}' for f in factors)}]"
    return shlex.join(["extrap", *typed, "stage=evaluate", long])


def prepare(composed: Composed) -> Search:
    return Search(program.job(composed))


def main() -> None:
    config.register()
    cli.main(cli.Program(prepare, command=("extrap", "longrope"), head=help.LONGROPE))
