"""What a training is fed: the batches from some step on, drawn in its own process or beside it.

`trainer.workers` processes draw batches while the device computes, or as many as there are cores;
with 0 of them each is drawn when it is asked for. The batches are the same bit for bit: a batch is
a function of the seed, the step and the state of the curriculum, which goes along with the step,
and a switch takes effect so many steps after it is decided (extrap.data.curriculum.EVERY) that no
batch is drawn too early.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import NamedTuple

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
"""Batches that Lightning and the loader hold beside those that are being drawn."""
AHEAD = EVERY - SPARE
"""Batches that are drawn ahead at most."""


class Request(NamedTuple):
    """A share of the batch of step t: turn `turn` of `turns` in process `rank` of `processes`."""

    t: int
    switches: Switches
    turn: int
    turns: int
    rank: int
    processes: int


class Drawn(Dataset):
    """Request -> the windows of its batch that are its share, or the error that prevents them."""

    def __init__(self, batches: Batches):
        self.batches = batches
        self._last: tuple[int, Batch] | None = None

    def __getitem__(self, request: Request) -> Share | Exception:
        """Returns the share, or the error of a user or a disk: an error raised in a worker process
        would come back as the text of a traceback.
        """
        try:
            return self._share(request)
        except (UserError, OSError) as error:
            return error

    def _share(self, request: Request) -> Share:
        if self._last is None or self._last[0] != request.t:
            self._last = request.t, self.batches.at(request.t, request.switches)
        return share(
            self._last[1],
            request.rank * request.turns + request.turn,
            request.processes * request.turns,
            request.turn,
            request.turns,
        )


class FromStep(Sampler):
    """Requests from the trainer's global step on, so that a resumed run reads the same batches. The
    sampler stays in the process of the training, which holds the state of the curriculum.
    """

    def __init__(self, lit: Lit, switches: Switches, steps: int):
        self.lit, self.switches, self.steps = lit, switches, steps

    def __iter__(self) -> Iterator[Request]:
        trainer = self.lit.trainer
        turns = trainer.accumulate_grad_batches
        for t in range(trainer.global_step, self.steps):
            switches = deepcopy(self.switches)
            for turn in range(turns):
                yield Request(t, switches, turn, turns, trainer.global_rank, trainer.world_size)


def feed(
    batches: Batches, lit: Lit, switches: Switches, steps: int, options: TrainerOptions
) -> DataLoader:
    """Returns the batches of a training from the step of its trainer on, pinned for a GPU."""
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
