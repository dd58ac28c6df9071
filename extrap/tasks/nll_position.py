"""Loss by position in one long window, beside that of the same tokens read through windows of the training length.

A window of n tokens reads BOS, x[0], ..., x[n-2] and predicts x[0], ..., x[n-1]; the prediction of x[p-1] has p slots to read, and p is
its position.

    full        one forward over the whole window
    windowed    the same tokens from at most L slots, L the training length: x[0], ..., x[L-1] as in `full`, the others from windows of L
                tokens that advance by stride * L, only their newest predictions scored

Where `full` lies below `windowed` the model gains from text further back than it was trained to read; where it lies above, it loses.
Positions are pooled into bins whose borders grow by 2^(1/bins), with a border at L. Source: arXiv 2205.09921 (figure 5).
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from extrap.utils.errors import UserError
from extrap.model.scheme import OutOfRange
from extrap.tasks.base import Model, Progress, Result, Task, check_at_least, check_multiples, lengths
from extrap.tasks.scoring.text_windows import Windows, check_texts, loss_items, loss_rows, read, sliding, texts, tokens_read


class NLLPosition(Task):
    """Negative log-likelihood by position: nats per token (nll) and bits_per_byte, rows with axis=position and `at`, the bin's mean.

    multiples: lengths of the long windows over the training length; stride: step of the windows of L tokens over L; bins: for each
    doubling of the position; documents: of the validation split, spread evenly over those that are long enough; batch_tokens: tokens
    per forward, which changes speed and memory only. Intervals are bootstraps over documents. Rows without an axis, and items (nll_sum,
    tokens), are of all positions past L: there `full` and `windowed` differ. A loss that is no finite number has the status diverged.
    """

    def __init__(
        self,
        multiples: Sequence[float] = (8,),
        stride: float = 0.125,
        bins: int = 4,
        documents: int = 64,
        batch_tokens: int = 4096,
    ):
        self.multiples, self.stride, self.bins = multiples, stride, bins
        self.documents, self.batch_tokens = documents, batch_tokens

    def check(self, corpus, vocabulary, train_length: int) -> None:
        check_multiples("task.nll-position.multiples", self.multiples, train_length)
        if min(lengths(self.multiples, train_length)) <= train_length:
            raise UserError(f"task.nll-position.multiples={list(self.multiples)}: must be above 1, past the training length")
        if not 0 < self.stride <= 1:
            raise UserError(f"task.nll-position.stride={self.stride}: must be a fraction of the training length, above 0 and at most 1")
        for name in ("bins", "documents", "batch_tokens"):
            check_at_least(f"task.nll-position.{name}", getattr(self, name), 1)
        longest = max(lengths(self.multiples, train_length))
        check_texts(corpus, "nll-position", self.documents, longest, "the longest length")

    def run(self, model: Model, corpus, vocabulary, train_length: int, progress: Progress) -> Result:
        L, step = train_length, max(1, round(self.stride * train_length))
        evaluated = sorted(lengths(self.multiples, L))
        text, sizes = texts(corpus, self.documents, evaluated[-1])
        plan = [
            (protocol, n, windows)
            for n in evaluated
            for protocol, windows in (
                ("full", [Windows(n, n, (n,))]),
                ("windowed", [Windows(L, L, (L,)), *sliding(L, step, L, n)]),
            )
        ]
        cost = [len(text) * tokens_read(windows) for _, _, windows in plan]
        result = Result()
        for at, (protocol, n, windows) in enumerate(plan):
            losses, done = np.zeros((len(text), n)), sum(cost[:at])
            try:
                for batch in read(model, text, vocabulary.bos, windows, self.batch_tokens):
                    scored = batch.losses.shape[1]
                    losses[batch.documents[:, None], batch.ends[:, None] - scored + np.arange(scored)] = batch.losses
                    progress(done := done + batch.tokens, sum(cost))
            except OutOfRange:
                continue
            self._report(result, {"protocol": protocol, "length": n}, losses, sizes[:, :n], text[:, L:n], L)
        progress(sum(cost), sum(cost))
        return result

    def _report(self, result: Result, where: dict, losses: np.ndarray, sizes: np.ndarray, past: np.ndarray, L: int) -> None:
        """losses, sizes: (documents, n), nats and bytes of the token predicted at each position; past: the tokens beyond L."""
        borders = edges(losses.shape[1], L, self.bins)
        for first, after in pairwise(borders):
            part, at = slice(first - 1, after - 1), {"axis": "position", "at": (first + after - 1) / 2}
            result.rows += loss_rows(where | at, losses[:, part].sum(1), after - first, sizes[:, part].sum(1))
        sums = losses[:, L:].sum(1)
        result.rows += loss_rows(where, sums, past.shape[1], sizes[:, L:].sum(1))
        result.items += loss_items(where, sums, past.shape[1], past)


def edges(n: int, L: int, bins: int) -> list[int]:
    """First positions of the bins of 1 ... n, and n + 1: L 2^(k / bins) + 1 rounded, so that no bin holds positions on both sides of L."""
    whole = np.arange(-np.ceil(bins * np.log2(L)), np.ceil(bins * np.log2(n / L)) + 1)
    inner = np.round(L * 2 ** (whole / bins)).astype(int) + 1
    return sorted({1, n + 1, *(int(first) for first in inner if 1 < first <= n)})
