"""Hours and memory of a training, foreseen before its start."""

import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from extrap.model.loss import LOGITS
from extrap.runs.finetuned import Training
from extrap.runs.training.batch_shares import share
from extrap.runs.training.lightning_module import Lit
from extrap.runs.training.options import TrainerOptions
from extrap.utils.untrusted import memory

LARGE = 1e15
"""Products of a training above which a calibration is worth its seconds: hours of two cores."""
DAY = 24.0
"""Hours."""
STATE = 16
"""Bytes of a parameter: itself, its gradient, two moments."""
BLOCK = 3 * 4 * LOGITS
"""Bytes of a block of logits, its probabilities and a copy."""


@dataclass(frozen=True)
class Pace:
    """The pace and the memory of a training.

    Args:
        seconds: of a step
        steps: of the training
        bytes: of memory that it needs
        room: bytes that the device has
    """

    seconds: float
    steps: int
    bytes: float
    room: float

    @property
    def hours(self) -> float:
        return self.seconds * self.steps / 3600

    @property
    def warning(self) -> str | None:
        """A line about a training of more than a day, or of more memory than there is."""
        said = []
        if self.bytes > self.room:
            has = f"this device has {self.room / 2**30:,.0f}"
            said.append(f"needs about {self.bytes / 2**30:,.0f} GiB of memory, and {has}")
        if self.hours > DAY:
            said.append(f"takes about {self.hours:,.0f} hours ({self.seconds:,.1f} s a step)")
        if not said:
            return None
        less = (
            "trainer.recompute=true holds less, fewer windows (data.text.size) and steps take less"
        )
        return f"the training {' and '.join(said)}; {less}"


class Kept(saved_tensors_hooks):
    """Counts the bytes that a forward keeps for its backward, each memory once."""

    def __init__(self, model: torch.nn.Module):
        self.own = {p.untyped_storage().data_ptr() for p in model.parameters()}
        self.sizes: dict[int, int] = {}
        super().__init__(self._count, lambda tensor: tensor)

    def _count(self, tensor: Tensor) -> Tensor:
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in self.own:
            self.sizes[memory.data_ptr()] = memory.nbytes()
        return tensor

    @property
    def bytes(self) -> int:
        return sum(self.sizes.values())


def large(training: Training, params: int) -> bool:
    """True if a training is worth a calibration."""
    tokens = training.batches.mixture.step_tokens
    return 6.0 * params * tokens * training.optim.steps > LARGE


def calibrate(training: Training, options: TrainerOptions, device: torch.device) -> Pace:
    """Returns the pace of a training by two steps of a model of its own, which is then dropped.

    A GPU computes one forward's share of the batch, a CPU one window of each part: time and memory
    count by the windows. Leaves torch's random numbers as they were.
    """
    on_gpu = device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if on_gpu else []):
        model = training.begin().to(device)
        weights = training.batches.mixture.weights
        lit = Lit(model, training.optim, weights, recomputed=options.recompute)
        whole, n = (
            training.batches[training.optim.steps - 1],
            options.processes * options.accumulate_grad_batches,
        )
        sizes = [rows.stop - rows.start for rows in whole.parts.values()]
        some = share(whole, 0, n if on_gpu else max(sizes)).to(device)
        mixed: Any = nullcontext()
        if options.precision == "bf16-mixed":
            mixed = torch.autocast(device.type, torch.bfloat16)
        kept, seconds = Kept(model), 0.0
        for _ in range(2):  # the first sets up
            kept, start = Kept(model), time.perf_counter()
            with mixed, kept:
                loss = lit.training_step(some, 0)  # type: ignore[arg-type]
            loss.backward()
            if on_gpu:
                torch.cuda.synchronize(device)
            seconds = time.perf_counter() - start
    room = torch.cuda.mem_get_info(device)[1] if on_gpu else memory()
    times = len(whole.tokens) / n / len(some.tokens)
    params = sum(p.numel() for p in model.parameters())
    need = STATE * params + times * kept.bytes + BLOCK
    each = seconds * times * options.accumulate_grad_batches
    return Pace(each, training.optim.steps, need, room)
