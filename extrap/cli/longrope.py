"""Search LongRoPE's factors for a trained run.

The loss of the search is over texts of `factor` times the training length from the training split,
which evaluation never scores; at the default budget a run has met a tenth of it, in windows of L
tokens.
"""

import shlex
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from extrap.cli.shared import command
from extrap.utils.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

    from extrap.data.corpora.base import Corpus

DOCUMENTS = 32
"""Texts of the search."""


@command("words conf")
def main(args: Namespace) -> str:
    from extrap.cli.program import one_job

    folder = ["--config-dir", str(args.config_dir)] if args.config_dir else []
    return evaluation([*folder, *args.words], factors(one_job(args)))


def factors(job: Any) -> list[float]:
    """Searches the factors of a trained run. Raises UserError."""
    import torch

    from extrap.extensions.longrope import LongRoPE
    from extrap.extensions.longrope_search import find_factors
    from extrap.runs import validate
    from extrap.runs.evaluate import trained_model
    from extrap.runs.folder import not_trained_yet
    from extrap.utils.progress import Progress

    validate.check(job)
    if not isinstance(job.extension, LongRoPE) or job.extension.factor <= 1:
        problem = "give extension=longrope and an extension.factor above 1 to search for"
        raise UserError("extension", job.choices["extension"], problem)
    if not job.run.trained:
        remedy = "train it with `extrap stage=train` and the same options"
        raise not_trained_yet(job.run, "extension", job.choices["extension"], remedy)
    s = job.extension.factor
    held_out = texts(job.source.corpus, job.source.vocabulary.bos, int(s * job.source.length))
    torch.set_num_threads(job.config["threads"])
    with job.run.alone(), Progress("search") as progress:
        return find_factors(trained_model(job), held_out, s, progress)


def texts(corpus: "Corpus", bos: int, n: int) -> "Tensor":
    """Returns (DOCUMENTS, 1 + n): BOS and the first n tokens of documents of the training split.
    Raises UserError if there are fewer documents.
    """
    import numpy as np
    import torch

    found = corpus.documents("train", at_least=n)
    if len(found) < DOCUMENTS:
        problem = f"{len(found)} training documents have {n} tokens, the search needs {DOCUMENTS}"
        remedy = "give more text or a smaller extension.factor"
        raise UserError(corpus.option, problem=problem, remedy=remedy)
    chosen = np.stack([found[i * len(found) // DOCUMENTS][:n] for i in range(DOCUMENTS)])
    return torch.nn.functional.pad(torch.from_numpy(chosen.astype(np.int64)), (1, 0), value=bos)


def evaluation(words: list[str], factors: list[float]) -> str:
    """Returns the command that evaluates these factors with the options in `words`."""
    mine = ("stage=", "extension.long=")
    typed = [word for word in words if not word.lstrip("+").startswith(mine)]
    long = f"extension.long=[{','.join(f'{f:g}' for f in factors)}]"
    return shlex.join(["extrap", *typed, "stage=evaluate", long])
