"""The first line of `make demo`: what it does and how long that takes on this machine.

A plain training step is timed here; the demo takes the time of so many of them (`JOB`, `DRAWING`),
as measured once. Whatever slows this machine now slows both.
"""

import time
from statistics import median

import torch
import torch.nn.functional as F
from torch import nn

from extrap.utils.cores import cores

MODELS = 4
JOB = 1000
"""Plain steps in the time of one model: start, training, evaluation."""
DRAWING = 100
"""Plain steps in the time of the figures and the table of two models."""
STEPS = 40


def plain_step() -> float:
    """Returns the median seconds of a training step of two layers on 40 windows of 64 tokens."""
    torch.set_num_threads(1)
    layer = nn.TransformerEncoderLayer(64, 4, 256, dropout=0, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 2), nn.Linear(64, 449))
    adamw = torch.optim.AdamW(model.parameters(), fused=True)
    windows, targets = torch.randn(40, 64, 64), torch.randint(449, (40 * 64,))
    seconds = []
    for _ in range(STEPS):
        start = time.perf_counter()
        F.cross_entropy(model(windows).flatten(0, 1), targets).backward()
        adamw.step()
        adamw.zero_grad()
        seconds.append(time.perf_counter() - start)
    return median(seconds)


def line(step: float, side_by_side: int) -> str:
    """Returns the line for a plain step of so many seconds, jobs running side by side."""
    first = step * (JOB * 2 / min(2, side_by_side) + DRAWING)
    whole = first + step * (JOB * (MODELS - 2) / min(2, side_by_side) + DRAWING)
    return (
        f"{MODELS} models, about {minutes(whole)} on this machine; the first figure after "
        f"{minutes(first)}. What is finished is skipped."
    )


def minutes(seconds: float) -> str:
    """Returns `1 minute`, `7 minutes`: at least one."""
    count = max(1, round(seconds / 60))
    return f"{count} minute{'s' * (count > 1)}"


if __name__ == "__main__":
    print(line(plain_step(), cores()), flush=True)
