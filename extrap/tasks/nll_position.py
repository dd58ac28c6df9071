"""Loss by position in one long window, beside that of the same tokens read through windows of the
training length.

A window of n tokens reads BOS, x[0], ..., x[n-2] and predicts x[0], ..., x[n-1]; the prediction of
x[p-1] has p slots to read, and p is its position.

    full        one forward over the whole window
    windowed    the same tokens from at most L slots, L the training length: x[0], ..., x[L-1] as in
                `full`, the others from windows of L tokens that advance by stride * L, only their
                newest predictions scored

Where `full` lies below `windowed` the model gains from text further back than it was trained to
read; where it lies above, it loses. Positions are pooled into bins whose borders grow by
2^(1/bins), with a border at L. Source: arXiv 2205.09921 (figure 5).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from extrap.data.text import Text
from extrap.tasks.base import AtLengths, Counter, Model, Progress, Result
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.text_windows import (
    TextWindows,
    check_texts,
    read,
    report_losses,
    sliding,
    texts,
    tokens_read,
)
from extrap.utils.bounds import Count, Fraction, Multiples
from extrap.utils.errors import UserError


@dataclass(frozen=True, kw_only=True)
class NLLPosition(AtLengths):
    """Negative log-likelihood by position: nats per token (nll) and bits_per_byte, rows with
    axis=position and `at`, the bin's mean.

    multiples: lengths of the long windows over the training length; stride: step of the windows of
    L tokens over L; bins: for each doubling of the position; documents: of the validation split,
    spread evenly over those that are long enough; batch_tokens: tokens per forward, which changes
    speed and memory only. Intervals are bootstraps over documents. Rows without an axis, and items
    (nll_sum, tokens), are of all positions past L: there `full` and `windowed` differ. A loss that
    is no finite number has the status diverged.
    """

    name: ClassVar[str] = "nll-position"
    inner: ClassVar[bool] = True
    least: ClassVar[float] = 1
    learned_from = Text

    multiples: Multiples = (8,)
    stride: Fraction = 0.125
    bins: Count = 4
    documents: Count = 64
    batch_tokens: Count = 4096

    def check(self, corpus, vocabulary, train_length: int) -> None:
        super().check(corpus, vocabulary, train_length)
        ns = self.lengths(train_length)
        if ns[0] <= train_length:
            raise UserError(
                f"{self.option('multiples')}: must be above 1, past the training length"
            )
        check_texts(corpus, "nll-position", self.documents, ns[-1], "the longest length")

    def run(
        self, model: Model, corpus, vocabulary, train_length: int, progress: Progress
    ) -> Result:
        L, step = train_length, max(1, round(self.stride * train_length))
        ns = self.lengths(L)
        text, sizes = texts(corpus, self.documents, ns[-1])
        plan = [
            (protocol, n, windows)
            for n in ns
            for protocol, windows in (
                ("full", [TextWindows(n, n, (n,))]),
                ("windowed", [TextWindows(L, L, (L,)), *sliding(L, step, L, n)]),
            )
        ]
        cost = [len(text) * tokens_read(windows) for _, _, windows in plan]
        recorder, counter = Recorder(), Counter(progress, sum(cost))
        for at, (protocol, n, windows) in enumerate(plan):
            losses = np.zeros((len(text), n))
            with recorder.at(protocol=protocol, length=n).within_range() as cells:
                for batch in read(model, text, vocabulary.bos, windows, self.batch_tokens):
                    scored = batch.losses.shape[1]
                    slots = batch.ends[:, None] - scored + np.arange(scored)
                    losses[batch.documents[:, None], slots] = batch.losses
                    counter(batch.tokens)
                self._report(cells, losses, sizes[:, :n], text[:, L:n], L)
            counter.up_to(sum(cost[: at + 1]))
        return recorder.result()

    def _report(
        self, cells: Recorder, losses: np.ndarray, sizes: np.ndarray, past: np.ndarray, L: int
    ) -> None:
        """losses, sizes: (documents, n), nats and bytes of the token predicted at each position;
        past: the tokens beyond L.
        """
        for first, after in pairwise(edges(losses.shape[1], L, self.bins)):
            part = slice(first - 1, after - 1)
            cells.at(axis="position", at=(first + after - 1) / 2).loss(
                losses[:, part].sum(1), after - first, sizes[:, part].sum(1)
            )
        report_losses(cells, losses[:, L:].sum(1), past.shape[1], sizes[:, L:].sum(1), past)


def edges(n: int, L: int, bins: int) -> list[int]:
    """First positions of the bins of 1 ... n, and n + 1: L 2^(k / bins) + 1 rounded, so that no bin
    holds positions on both sides of L.
    """
    whole = np.arange(-np.ceil(bins * np.log2(L)), np.ceil(bins * np.log2(n / L)) + 1)
    inner = np.round(L * 2 ** (whole / bins)).astype(int) + 1
    return sorted({1, n + 1, *(int(first) for first in inner if 1 < first <= n)})
