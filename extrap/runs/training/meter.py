"""Measures the cost of work (extrap.runs.cost) in the process that does the work."""

import os
import resource
import sys
import time
import warnings

import torch

from extrap.data.mixture import Batch
from extrap.model.gpt import GPT
from extrap.runs.cost import PER_DEVICE, Cost

KIB = 1024 if sys.platform == "linux" else 1
"""Bytes of the unit in which the system reports memory."""


class Meter:
    """A meter that starts when it is made.

    Args:
        gpus: number of GPUs that the work holds, alone or with other jobs of its sweep
        before: cost of earlier attempts
    """

    def __init__(self, gpus: int = 0, before: Cost | None = None) -> None:
        self.gpus = gpus
        self.before = before or Cost()
        self._began = time.perf_counter()
        self._processor = _processor_seconds()
        if gpus:
            torch.cuda.reset_peak_memory_stats()

    @property
    def seconds(self) -> float:
        """Wall time of this attempt."""
        return time.perf_counter() - self._began

    def cost(self) -> Cost:
        """Returns the cost so far, earlier attempts included."""
        wall = self.seconds
        own = Cost(
            seconds=wall,
            processor_seconds=_processor_seconds() - self._processor,
            device_seconds=wall * self.gpus / _side_by_side(),
            memory=self.memory(),
        )
        return self.before + own

    def memory(self) -> float:
        """Returns the most bytes that the GPU, or else this process, has held at once."""
        return most_memory(self.gpus > 0)


def most_memory(on_gpu: bool) -> float:
    """Returns the most bytes that this process has held at once, on the GPU or on the processor."""
    if on_gpu:
        return float(torch.cuda.max_memory_allocated())
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB)


def _side_by_side() -> int:
    """Returns how many jobs of its sweep share the GPUs of this process."""
    told = os.environ.get(PER_DEVICE, "")
    return max(1, int(told)) if told.isdecimal() else 1


def _processor_seconds() -> float:
    """Returns the processor time of this process and of its ended children."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def products(model: GPT, batch: Batch) -> float:
    """Returns the multiplications and additions of a training step on a batch: for each token 6 for
    a parameter of the blocks and 12 C T for a layer (arXiv 2204.02311, appendix B), and 6 C V for
    each token that the head scores.
    """
    N = sum(p.numel() for p in model.blocks.parameters())
    V, C = model.embedding.weight.shape
    scored = sum(len(at) for places in (batch.scored, batch.echoes) for at in places.values())
    T = batch.tokens.shape[1]
    return batch.tokens.numel() * (6 * N + 12 * len(model.blocks) * C * T) + 6 * V * C * scored


def share_of_peak(rate: float, device: torch.device, precision: str) -> float | None:
    """Returns the share of what a GPU can do that a training does. Returns None on a processor, and
    if Lightning does not know the GPU.

    Args:
        rate: `products` a second on one GPU
        device: that GPU
        precision: of the trainer, such as bf16-mixed
    """
    if device.type != "cuda":
        return None
    from lightning.fabric.utilities.throughput import get_available_flops

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Lightning warns of a GPU that is not in its table
        dtype = torch.bfloat16 if precision.startswith("bf16") else torch.float32
        peak = get_available_flops(device, dtype)
    return rate / peak if peak else None
