"""How fast a scheme reads and trains, and what a training step holds in memory: figure 2 of ALiBi (arXiv 2108.12409).

    read     logits of all slots, without gradients
    train    the same, and the gradients of the mean loss by all weights; the step of the optimiser, alike for all schemes, is left out

Windows are random tokens. Times are of this machine and of what else it did, so that only ratios of rows measured side by side say
something about schemes; the bytes are exact.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from extrap.model.scheme import OutOfRange
from extrap.tasks.base import Diagnostic, Inside, Progress, Result, check_at_least, check_multiples, lengths


class Speed(Diagnostic):
    """multiples: lengths over the training length; window_tokens: of a forward, in as many windows as that makes, at least one;
    repeats: timed forwards of each, after one that is not. Metrics:

    tokens_per_second    windows x length over the median of the seconds; low and high are the slowest and the fastest repeat, n repeats
    bytes_per_token      of train: what is kept between forward and backward, each storage once, weights among it, over the tokens
    """

    def __init__(self, multiples: Sequence[float] = (1, 4, 16), window_tokens: int = 4096, repeats: int = 7):
        self.multiples, self.window_tokens, self.repeats = multiples, window_tokens, repeats

    def check(self, corpus, vocabulary, train_length: int) -> None:
        check_multiples("task.speed.multiples", self.multiples, train_length)
        check_at_least("task.speed.window_tokens", self.window_tokens, 1)
        check_at_least("task.speed.repeats", self.repeats, 1)

    def run(self, model: Inside, corpus, vocabulary, train_length: int, progress: Progress) -> Result:
        result, evaluated = Result(), sorted(lengths(self.multiples, train_length))
        for done, n in enumerate(evaluated, 1):
            windows = max(1, self.window_tokens // n)
            drawn = np.random.default_rng(n).integers(vocabulary.size, size=(windows, n + 1))
            tokens, targets = torch.from_numpy(drawn[:, :-1].copy()), torch.from_numpy(drawn[:, 1:].copy())
            ways = {"read": lambda t=tokens, n=n: model(t, last=n), "train": lambda t=tokens, y=targets: model.gradients(t, y)}
            try:
                for protocol, way in ways.items():
                    slow, middle, fast = (tokens.numel() / s for s in _seconds(way, self.repeats))
                    row = {"metric": "tokens_per_second", "value": middle, "low": slow, "high": fast, "n": self.repeats}
                    result.rows.append({"protocol": protocol, "length": n, "tokens": tokens.numel(), "status": "ok"} | row)
                row = {"metric": "bytes_per_token", "value": _kept(ways["train"]) / tokens.numel()}
                result.rows.append({"protocol": "train", "length": n, "tokens": tokens.numel(), "status": "ok"} | row)
            except OutOfRange:
                continue
            progress(done, len(evaluated))
        return result


def _seconds(way: Callable[[], Tensor], repeats: int) -> tuple[float, float, float]:
    """Longest, median and shortest time of calls."""
    times = []
    for _ in range(1 + repeats):
        start = time.perf_counter()
        out = way()
        if out.is_cuda:
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    timed = sorted(times[1:])
    return timed[-1], timed[len(timed) // 2], timed[0]


def _kept(way: Callable[[], Tensor]) -> int:
    """Bytes of the storages that are saved for the backward pass."""
    storages: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        way()
    return sum(storages.values())
