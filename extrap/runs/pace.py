"""How long a run takes on this machine, before it starts."""

import time
from collections.abc import Callable
from statistics import median

import torch
import torch.nn.functional as F

from extrap.runs.job import Job

LOOKS = 3
"""Steps and readings that are timed, after one that is not."""
READINGS = 2000
"""What the tasks of the reference study read, in batches of 4096 tokens at 8 L."""
BATCH = 4096
FAR = 8


def seconds(job: Job) -> float:
    """Returns about how long training and evaluation of a run take: the median of a few steps on
    random tokens and of a few readings at 8 L times their numbers.
    """
    source = job.source
    training = job.trainings[-1]
    model = source.model().to(source.device)
    parts = training.batches.mixture.parts.values()
    step = _step(model, sum(part.size for part in parts), source.length)
    reading = _reading(model, int(min(FAR * source.length, model.scheme.limit)))
    return training.optim.steps * step + READINGS * reading


def _step(model: torch.nn.Module, windows: int, length: int) -> float:
    tokens = torch.randint(0, 256, (windows, length), device=next(model.parameters()).device)

    def once() -> None:
        logits = model(tokens)
        F.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()

    return _took(once)


def _reading(model: torch.nn.Module, length: int) -> float:
    tokens = torch.randint(0, 256, (max(1, BATCH // length), length))
    tokens = tokens.to(next(model.parameters()).device)

    def once() -> None:
        with torch.inference_mode():
            model(tokens, last=length // 8)

    return _took(once)


def _took(work: Callable[[], None]) -> float:
    times = []
    for _ in range(LOOKS + 1):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return median(times[1:])
