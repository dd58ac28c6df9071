"""Measures what work costs the process that does it (extrap.runs.cost)."""

import os
import resource
import sys
import time
import warnings

import torch

from extrap.model.gpt import GPT
from extrap.runs.cost import Cost

KIB = 1024 if sys.platform == "linux" else 1
"""Bytes of the unit in which the system counts memory."""


class Meter:
    """Counts from its making on.

    Args:
        gpus: that the work holds
        before: what earlier attempts cost
    """

    def __init__(self, gpus: int = 0, before: Cost | None = None) -> None:
        self.gpus, self.before = gpus, before or Cost()
        self._began, self._processor = time.perf_counter(), _processor()
        if gpus:
            torch.cuda.reset_peak_memory_stats()

    @property
    def seconds(self) -> float:
        """Seconds of this attempt."""
        return time.perf_counter() - self._began

    def cost(self) -> Cost:
        """Returns the cost so far, of all attempts."""
        wall, processor = self.seconds, _processor() - self._processor
        return self.before + Cost(wall, processor, wall * self.gpus, self.memory())

    def memory(self) -> float:
        """Returns the most bytes at once so far."""
        if self.gpus:
            return float(torch.cuda.max_memory_allocated())
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB)


def _processor() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def share_of_peak(rate: float, model: GPT, length: int, precision: str) -> float | None:
    """Returns the share of what a GPU can do that training takes, None where Lightning does not
    know the GPU.

    Args:
        rate: tokens per second of one GPU
        length: of a window
    """
    device = model.embedding.weight.device
    if device.type != "cuda":
        return None
    from lightning.fabric.utilities.throughput import get_available_flops

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a GPU that is not in its table
        dtype = torch.bfloat16 if precision.startswith("bf16") else torch.float32
        peak = get_available_flops(device, dtype)
    numbers = sum(p.numel() for p in model.parameters())
    attention = 12 * len(model.blocks) * model.embedding.weight.shape[1] * length
    return rate * (6 * numbers + attention) / peak if peak else None
