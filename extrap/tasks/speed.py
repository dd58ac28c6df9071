"""How fast a scheme reads and trains, and what a training step holds in memory: figure 2 of ALiBi
(arXiv 2108.12409).

    read     logits of all slots, without gradients
    train    the same, and the gradients of the mean loss by all weights; the step of the optimiser,
             alike for all schemes, is left out

Windows are random tokens. Times are of this machine and of what else it did, so that only ratios of
rows measured side by side say something about schemes; the bytes are exact.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from extrap.tasks.base import AtLengths, Diagnostic, Inside, Progress, Result, Setting
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.bounds import Count, Multiples


@dataclass(frozen=True, kw_only=True)
class Speed(AtLengths, Diagnostic):
    """The task that measures speed and memory.

    Args:
        multiples: lengths over the training length
        window_tokens: of a forward, in as many windows as that makes, at least one
        repeats: timed forwards of each, after one that is not

    Metrics:

    tokens_per_second    windows x length over the median of the seconds; low and high are the
                         slowest and the fastest repeat, n repeats
    bytes_per_token      of train: what is kept between forward and backward, each storage once,
                         weights among it, over the tokens
    """

    name: ClassVar[str] = "speed"
    least: ClassVar[float] = 1

    multiples: Multiples = (1, 4, 16)
    window_tokens: Count = 4096
    repeats: Count = 7

    def run(self, model: Inside, setting: Setting, progress: Progress) -> Result:
        recorder = Recorder()
        ids = setting.vocabulary.size
        ns = self.lengths(setting.length)
        for done, n in enumerate(ns, 1):
            windows = max(1, self.window_tokens // n)
            rng = np.random.default_rng(n)
            drawn = rng.integers(ids, size=(windows, n + 1))
            tokens = torch.from_numpy(drawn[:, :-1].copy())
            targets = torch.from_numpy(drawn[:, 1:].copy())
            ways = {
                "read": lambda t=tokens, n=n: model(t, last=n),
                "train": lambda t=tokens, y=targets: model.gradients(t, y),
            }
            size = tokens.numel()
            here = recorder.at(length=n)
            with here.within_range() as cells:
                for protocol, way in ways.items():
                    seconds = _seconds(way, self.repeats)
                    slow, middle, fast = (size / each for each in seconds)
                    cell = cells.at(protocol=protocol, n=self.repeats, tokens=size)
                    cell.value("tokens_per_second", middle, low=slow, high=fast)
                kept = _kept(ways["train"]) / size
                cells.value("bytes_per_token", kept, protocol="train", tokens=size)
            progress(done, len(ns))
        return recorder.result()


def _seconds(way: Callable[[], Tensor], repeats: int) -> tuple[float, float, float]:
    """Returns the longest, median and shortest time of the calls."""
    times = []
    for _ in range(1 + repeats):
        start = time.perf_counter()
        out = way()
        if out.is_cuda:
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    timed = sorted(times[1:])
    return timed[-1], median(timed), timed[0]


def _kept(way: Callable[[], Tensor]) -> int:
    """Returns the bytes of the storages saved for the backward pass."""
    storages: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        way()
    return sum(storages.values())
