"""The search for LongRoPE's factors, one per pair, on the loss of a trained model. arXiv
2402.13753, section 3.

The loss is that of texts of `factor` times the training length, taken from the training split:
evaluation never scores them, and at the default budget a run has met a tenth of that split, in
windows of L tokens. The paper breeds a population; here the best of its three beginnings
(interpolation, NTK, YaRN) is improved pair by pair, under its condition that later pairs are slowed
no less.
"""

from collections.abc import Callable
from math import inf, isfinite
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from extrap.extensions.by_parts import YaRN
from extrap.extensions.longrope import LongRoPE
from extrap.extensions.ntk import bloc97
from extrap.model.gpt import GPT
from extrap.model.parts import parts
from extrap.model.spectrum import Pairs, pairs, turns_pairs
from extrap.runs.folder import Run, read_json, write_json
from extrap.runs.job import Job
from extrap.utils.errors import UserError

DOCUMENTS = 32
BATCH_TOKENS = 4096
STEPS = (2.0, 1.4, 1.15)  # a factor is tried this many times greater and smaller,
ROUNDS = 3  # pair by pair, as long as it helps, at most so often
HEADROOM = 1.25  # no pair is slowed by more than this times the factor, as in the paper

Loss = Callable[[list[float]], float]


def search(
    loss: Loss,
    starts: list[list[float]],
    most: float,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> tuple[list[float], float]:
    """(factors, loss): the least loss found among non-decreasing factors in 1 .. most. Never worse
    than the best start.
    """
    total, done = len(starts) + 2 * len(STEPS) * ROUNDS * len(starts[0]), 0

    def tried(factors: list[float]) -> tuple[float, list[float]]:
        nonlocal done
        value = loss(factors)
        progress(done := done + 1, total)
        return (value if isfinite(value) else inf), factors

    best = min(tried(start) for start in starts)
    for step in STEPS:
        for _ in range(ROUNDS):
            before = best
            for p in reversed(range(len(best[1]))):
                best = min(
                    [
                        best,
                        *(
                            tried(moved(best[1], p, best[1][p] * by, most))
                            for by in (step, 1 / step)
                        ),
                    ]
                )
            if best == before:
                break
    progress(total, total)
    return best[1], best[0]


def moved(factors: list[float], p: int, value: float, most: float) -> list[float]:
    """Factor p set to a value; the others give way, so that none is less than one before it."""
    value = min(max(value, 1.0), most)
    return (
        [min(f, value) for f in factors[:p]] + [value] + [max(f, value) for f in factors[p + 1 :]]
    )


def beginnings(trained: Pairs, s: float) -> list[list[float]]:
    """Factors per pair of interpolation, NTK and YaRN; 1 for pairs that stand still."""
    slowed = (trained.theta / s, bloc97(trained, s), YaRN(s).theta(trained, s))
    return [(trained.theta / theta).nan_to_num(1.0).tolist() for theta in slowed]


@torch.inference_mode()
def text_loss(model: Callable[..., Tensor], texts: Tensor) -> float:
    """Nats per token over texts (N, 1 + n)."""
    total = 0.0
    for batch in texts.split(max(1, BATCH_TOKENS // texts.shape[1])):
        logits = model(batch[:, :-1]).float().flatten(0, 1)
        total += float(F.cross_entropy(logits, batch[:, 1:].flatten(), reduction="sum"))
    return total / texts[:, 1:].numel()


def texts(job: Job, n: int) -> Tensor:
    """(DOCUMENTS, 1 + n): BOS and the first n tokens of as many documents of the training split.
    Raises UserError where there are fewer.
    """
    corpus = job.source.corpus
    found = corpus.documents("train", at_least=n)
    if len(found) < DOCUMENTS:
        problem = f"{len(found)} training documents have {n} tokens, the search needs {DOCUMENTS}"
        remedy = "give more text or a smaller extension.factor"
        raise UserError(corpus.option, problem=problem, remedy=remedy)
    chosen = np.stack([found[i * len(found) // DOCUMENTS][:n] for i in range(DOCUMENTS)])
    return F.pad(torch.from_numpy(chosen.astype(np.int64)), (1, 0), value=job.source.vocabulary.bos)


def find_factors(
    model: GPT, held_out: Tensor, s: float, progress: Callable[[int, int], object]
) -> list[float]:
    """The long factors for a trained model."""
    trained = next(pairs(part) for part in parts(model.scheme) if turns_pairs(part))

    def loss(factors: list[float]) -> float:
        return text_loss(LongRoPE(s, factors)(model), held_out)

    return search(loss, beginnings(trained, s), HEADROOM * s, progress)[0]


def kept(run: Run, s: float) -> Path:
    """Where the factors that were found for a run are kept."""
    return run.folder / f"longrope-x{s:g}.json"


def write(path: Path, s: float, factors: list[float]) -> None:
    """Keeps factors as data: a file that is read, and nothing that could be run."""
    write_json(path, {"factor": s, "long": [round(f, 6) for f in factors]})


def read(path: Path, s: float) -> list[float] | None:
    """The factors kept for s; None where there are none, or the file holds anything else."""
    match read_json(path):
        case {"factor": factor, "long": [*factors]} if factor == s and all(
            isinstance(f, float | int) and isfinite(f) and f > 0 for f in factors
        ):
            return [float(f) for f in factors]
    return None
