"""Time and memory of a run, foreseen before it starts: a step and a reading are timed."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from extrap.model.loss import at_once
from extrap.runs.finetuned import Training
from extrap.runs.job import Job
from extrap.runs.source import Source
from extrap.runs.training.batch_shares import share
from extrap.runs.training.lightning_module import Lit
from extrap.runs.training.options import TrainerOptions
from extrap.utils.untrusted import memory

LARGE, SHORT = 1e15, 1e14
"""Products of a training that takes hours of two cores, and of one that takes minutes."""
DAY = 24.0
"""Hours."""
STATE = 3
"""Numbers beside a parameter that is trained: its gradient, two moments."""
OF_LOGIT = 3 * 4
"""Bytes of a logit in a block: itself, its probability and a copy."""
READINGS, READ, FAR = 2000, 4096, 8
"""What the tasks of the reference study read: batches, their tokens, their length in L."""


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

    def line(self) -> str:
        """Returns the time and the memory of the training, in words."""
        took = f"{self.hours:,.1f} hours" if self.hours >= 1 else f"{60 * self.hours:,.0f} minutes"
        need, room = self.bytes / 2**30, self.room / 2**30
        memory = f"{need:,.1f} of {room:,.0f} GiB of memory"
        return f"the training takes about {took} ({self.seconds:,.2f} s a step) and {memory}"

    def warning(self, recompute: str) -> str | None:
        """Returns a line about a training of more than a day, or of more memory than there is.
        recompute: the word that makes it hold less.
        """
        said = []
        if self.bytes > self.room:
            has = f"this device has {self.room / 2**30:,.0f}"
            said.append(f"needs about {self.bytes / 2**30:,.0f} GiB of memory, and {has}")
        if self.hours > DAY:
            said.append(f"takes about {self.hours:,.0f} hours ({self.seconds:,.1f} s a step)")
        if not said:
            return None
        less = f"{recompute} holds less, fewer windows (data.text.size) and steps take less"
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
    """True if a training takes hours of two cores."""
    return _products(training, params) > LARGE


def worth(training: Training, params: int, options: TrainerOptions) -> bool:
    """True if a training is worth a calibration: one of minutes of two cores, or of hours where it
    is compiled, because a calibration is then compiled as well. A GPU takes seconds below.
    """
    least = LARGE if options.compile else SHORT
    return _products(training, params) > least


def _products(training: Training, params: int) -> float:
    tokens = training.batches.mixture.step_tokens
    return 6.0 * params * tokens * training.optim.steps


def calibrate(training: Training, options: TrainerOptions, device: torch.device) -> Pace:
    """Returns the pace of a training by two steps of a model of its own, which is then dropped.

    The steps compute one forward's share of the batch; a CPU computes one window of each part of a
    large training, as time and memory then count by the windows. Leaves torch's random numbers as
    they were.
    """
    with _numbers_kept(device):
        model = training.begin().to(device, training.dtype)
        mixture = training.batches.mixture
        how = options.compile, options.recompute
        lit = Lit(model, training.optim, mixture.weights, *how)
        params = sum(p.numel() for p in model.parameters())
        batch = training.batches[training.optim.steps - 1]
        forwards = options.processes * options.accumulate_grad_batches
        n = forwards
        if device.type == "cpu" and large(training, params):
            n = max(rows.stop - rows.start for rows in batch.parts.values())
        some = share(batch, 0, n).to(device)
        mixed = nullcontext()
        if options.precision == "bf16-mixed":
            mixed = torch.autocast(device.type, torch.bfloat16)
        kept = Kept(model)

        def step() -> None:
            kept.sizes.clear()
            with mixed, kept:
                loss = lit.training_step(some, 0)  # type: ignore[arg-type]
            loss.backward()

        seconds = _second_time(step, device)
    if options.compile:  # else the training would be compiled for windows of any number
        torch.compiler.reset()
    room = torch.cuda.mem_get_info(device)[1] if device.type == "cuda" else memory()
    times = len(batch.tokens) / forwards / len(some.tokens)
    need = _state(model) + times * kept.bytes + OF_LOGIT * at_once(device)
    each = seconds * times * options.accumulate_grad_batches
    return Pace(each, training.optim.steps, need, room)


def _state(model: torch.nn.Module) -> int:
    """Returns the bytes of the parameters of a training, of their gradients and moments."""
    numbers = ((p.numel() * p.element_size(), p.requires_grad) for p in model.parameters())
    return sum(size * (1 + STATE * trained) for size, trained in numbers)


def run_seconds(job: Job) -> float:
    """Returns about how many seconds the trainings and the evaluation of a run take, at the pace of
    the first training: the weights that a tuning begins with may not be there yet.
    """
    source = job.source
    pace = calibrate(job.trainings[0], source.trainer, source.device)
    steps = sum(training.optim.steps for training in job.trainings)
    return pace.seconds * steps + READINGS * _reading(source)


def _reading(source: Source) -> float:
    """Returns the seconds in which an untrained model reads random text of FAR times L."""
    with _numbers_kept(source.device):
        model = source.model().to(source.device)
        length = int(min(FAR * source.length, model.scheme.limit))
        windows = max(1, READ // length)
        tokens = torch.randint(0, 256, (windows, length), device=source.device)
        with torch.inference_mode():
            return _second_time(lambda: model(tokens, last=length // FAR), source.device)


def _numbers_kept(device: torch.device) -> AbstractContextManager[None]:
    """Returns a context that leaves torch's random numbers as they were."""
    return torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])


def _second_time(work: Callable[[], object], device: torch.device) -> float:
    """Returns the seconds that some work takes; the first time sets up and does not count."""
    seconds = 0.0
    for _ in range(2):
        start = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        seconds = time.perf_counter() - start
    return seconds
