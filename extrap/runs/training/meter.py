"""Measures the cost of work (extrap.runs.cost) in the process that does the work."""

import os
import resource
import sys
import time
import warnings

import torch

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


def share_of_peak(
    rate: float, model: GPT, device: torch.device, length: int, precision: str
) -> float | None:
    """Returns the operations of training over the operations that a GPU can do. Returns None on a
    processor, and if Lightning does not know the GPU.

    Args:
        rate: tokens per second on one GPU
        device: that GPU
        length: tokens of a window
        precision: of the trainer, such as bf16-mixed
    """
    if device.type != "cuda":
        return None
    from lightning.fabric.utilities.throughput import get_available_flops

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Lightning warns of a GPU that is not in its table
        dtype = torch.bfloat16 if precision.startswith("bf16") else torch.float32
        peak = get_available_flops(device, dtype)
    numbers = sum(p.numel() for p in model.parameters())
    width = model.embedding.weight.shape[1]
    attention = 12 * len(model.blocks) * width * length
    return rate * (6 * numbers + attention) / peak if peak else None
