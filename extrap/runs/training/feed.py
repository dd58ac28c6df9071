"""The batches of a training from some step on, drawn in its own process or in others.

`trainer.workers` processes, at most as many as cores, draw batches while the device computes; 0
draws each batch when training needs it. The batches are the same bit for bit: a batch is a function
of the seed, the step and the state of the curriculum. A switch of the curriculum takes effect
extrap.data.curriculum.EVERY steps after its decision, so that no batch is drawn too early.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import cast

import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from extrap.data.curriculum import EVERY, Switches
from extrap.data.mixture import Batch, Batches
from extrap.runs.training.batch_shares import Share, share
from extrap.runs.training.lightning_module import Lit
from extrap.runs.training.options import TrainerOptions
from extrap.utils.cores import cores
from extrap.utils.errors import UserError

SPARE = 2
"""Batches that Lightning and the loader hold besides."""
AHEAD = EVERY - SPARE
"""The most batches that workers draw ahead."""

Request = tuple[int, Switches, int, int, int, int]
"""Step, state of the curriculum, and the arguments of `share`."""


class Drawn(Dataset):
    """Request -> the share of its batch, or the error that prevents it: an error raised in a worker
    process would come back as the text of a traceback.
    """

    def __init__(self, batches: Batches):
        self.batches = batches
        self._last: tuple[int, Batch | None] = -1, None

    def __getitem__(self, request: Request) -> Share | Exception:
        t, switches, *which = request
        try:
            if self._last[0] != t:
                self._last = t, self.batches.at(t, switches)
            return share(cast(Batch, self._last[1]), *which)
        except (UserError, OSError) as error:
            return error


class FromStep(Sampler):
    """Requests from the trainer's global step on, so that a resumed run reads the same batches. The
    sampler stays in the process of the training, which holds the state of the curriculum.
    """

    def __init__(self, lit: Lit, switches: Switches, steps: int):
        self.lit, self.switches, self.steps = lit, switches, steps

    def __iter__(self) -> Iterator[Request]:
        trainer = self.lit.trainer
        turns = trainer.accumulate_grad_batches
        first, n = trainer.global_rank * turns, trainer.world_size * turns
        for t in range(trainer.global_step, self.steps):
            switches = deepcopy(self.switches)
            for turn in range(turns):
                yield t, switches, first + turn, n, turn, turns


def feed(
    batches: Batches, lit: Lit, switches: Switches, steps: int, options: TrainerOptions
) -> DataLoader:
    """Returns the loader of a training, which pins batches for a GPU."""
    workers = min(options.workers, cores())
    if workers:  # each draws the whole batch for every share of it
        workers = max(1, workers // options.accumulate_grad_batches)
    on_gpu = options.accelerator != "cpu" and torch.cuda.is_available()
    return DataLoader(
        Drawn(batches),
        batch_size=None,
        sampler=FromStep(lit, switches, steps),
        num_workers=workers,
        prefetch_factor=AHEAD // workers if workers else None,
        pin_memory=on_gpu,
    )
