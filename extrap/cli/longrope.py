"""Search LongRoPE's factors for a trained run."""

import shlex
from argparse import Namespace
from typing import Any

from extrap.cli.shared import command, one_job
from extrap.utils.errors import UserError


@command("words conf")
def main(args: Namespace) -> str:
    folder = ["--config-dir", str(args.config_dir)] if args.config_dir else []
    return evaluation([*folder, *args.words], factors(one_job(args)))


def factors(job: Any) -> list[float]:
    """Searches the factors of a trained run. Raises UserError."""
    import torch

    from extrap.extensions.longrope import LongRoPE
    from extrap.extensions.longrope_search import find_factors, texts
    from extrap.runs import validate
    from extrap.runs.evaluate import trained_model
    from extrap.runs.folder import untrained
    from extrap.utils.progress import Progress

    validate.check(job)
    if not isinstance(job.extension, LongRoPE) or job.extension.factor <= 1:
        problem = "give extension=longrope and an extension.factor above 1 to search for"
        raise UserError("extension", job.choices["extension"], problem)
    if not job.run.trained:
        remedy = "train it with `extrap stage=train` and the same options"
        raise untrained(job.run, "extension", job.choices["extension"], remedy)
    s = job.extension.factor
    held_out = texts(job.source.corpus, job.source.vocabulary.bos, int(s * job.source.length))
    torch.set_num_threads(job.config["threads"])
    with job.run.alone(), Progress("search") as progress:
        return find_factors(trained_model(job), held_out, s, progress)


def evaluation(words: list[str], factors: list[float]) -> str:
    """Returns the command that evaluates these factors with the options in `words`."""
    mine = ("stage=", "extension.long=")
    typed = [word for word in words if not word.lstrip("+").startswith(mine)]
    long = f"extension.long=[{','.join(f'{f:g}' for f in factors)}]"
    return shlex.join(["extrap", *typed, "stage=evaluate", long])
