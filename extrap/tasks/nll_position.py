"""Loss by position in one long window, compared with the same tokens read through windows of the
training length.

A window of n tokens reads BOS, x[0], ..., x[n-2] and predicts x[0], ..., x[n-1]; the prediction of
x[p-1] has p slots to read, and p is its position.

    full        one forward over the whole window
    windowed    the same tokens from at most L slots, L the training length: x[0], ..., x[L-1] as in
                `full`, the others from windows of L tokens that advance by stride * L, only their
                newest predictions scored

If `full` is below `windowed`, the model gains from text further back than the training length; if
it is above, that text costs loss. Positions are pooled into bins whose borders grow by 2^(1/bins),
with a border at L. Source: arXiv 2205.09921 (figure 5).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from extrap.tasks.base import Result, Setting
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.text_loss import Losses, Plan, TextLoss, TextWindow, sliding
from extrap.utils.bounds import Count, Fraction, Multiples


@dataclass(frozen=True, kw_only=True)
class NLLPosition(TextLoss):
    """Negative log-likelihood by position: nats per token (nll) and bits_per_byte, rows with
    axis=position and `at`, the bin's mean.

    Args:
        multiples: lengths of the long windows over the training length
        stride: step of the windows of L tokens over L
        bins: for each doubling of the position

    The other options and intervals: extrap.tasks.scoring.text_loss.

    Rows without an axis, and items (nll_sum, tokens), are of all positions past L: there `full` and
    `windowed` differ.
    """

    name: ClassVar[str] = "nll-position"

    multiples: Multiples = (8,)
    stride: Fraction = 0.125
    bins: Count = 4

    def reach(self, train_length: int) -> tuple[int, str]:
        return max(self.lengths(train_length)), "the longest length"

    def check(self, setting: Setting) -> None:
        shortest = self.lengths(setting.length)[0]
        if shortest <= setting.length:
            problem = "every multiple must be above 1, past the training length"
            raise self.error("multiples", problem, "leave the others out")
        super().check(setting)

    def plans(self, train_length: int) -> dict[Any, Plan]:
        L = train_length
        step = max(1, round(self.stride * train_length))
        plans: dict[Any, Plan] = {}
        for n in self.lengths(L):
            whole = TextWindow(n, n, n)
            first = TextWindow(L, L, L)
            windows = [first, *sliding(L, step, L, n)]
            plans["full", n] = {"full": [whole]}
            plans["windowed", n] = {"windowed": windows}
        return plans

    def reads_at_once(self, row: Mapping[str, Any], train_length: int) -> int:
        windowed = row.get("protocol") == "windowed"
        return train_length if windowed else super().reads_at_once(row, train_length)

    def report(self, read: dict[Any, Losses], train_length: int) -> Result:
        recorder = Recorder()
        L = train_length
        for (protocol, n), read_losses in read.items():
            cells = recorder.at(protocol=protocol, length=n)
            losses, places = read_losses.of(protocol)
            borders = edges(n, L, self.bins)
            for first, after in pairwise(borders):
                part = slice(first - 1, after - 1)
                tokens = after - first
                middle = (first + after - 1) / 2
                sums = losses[:, part].sum(1)
                sizes = read_losses.sizes[:, part].sum(1)
                cell = cells.at(axis="position", at=middle)
                cell.loss(sums, tokens, sizes)
            beyond = losses[:, L:]
            read_losses.report(cells, beyond, places[L:])
        return recorder.result()


def edges(n: int, L: int, bins: int) -> list[int]:
    """First positions of the bins of 1 ... n, and n + 1: L 2^(k / bins) + 1 rounded, so that no bin
    holds positions on both sides of L.
    """
    least = -np.ceil(bins * np.log2(L))
    most = np.ceil(bins * np.log2(n / L))
    k = np.arange(least, most + 1)
    positions = np.round(L * 2 ** (k / bins)).astype(int)
    borders = (positions + 1).tolist()
    inner = [border for border in borders if 1 < border <= n]
    return sorted({1, n + 1, *inner})
