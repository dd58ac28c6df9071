"""Loss against context length, scored in three ways that answer three questions.

All three score tokens of one region of each document, x[s], ..., x[e-1] with s the longest evaluated length and e = 2 s, so that
every window finds real text to its left. A window of length n that ends before b reads BOS, x[b-n], ..., x[b-2] (n slots, BOS takes
the first) and predicts x[b-n], ..., x[b-1]; BOS itself is never scored.

    nonoverlap     windows tile the region from s on, every prediction counts (the last window is shorter where n does not divide
                   the region). Mixes longer context with fewer predictions at window starts, which have little to read.
    sliding        windows advance by S = stride * n, only their last S predictions count: each has at least n - S slots to read.
    last_segment   one window that ends at e; the last L/2 predictions count, L the training length. Same targets, growing context.

The scored tokens are the same at every length; nonoverlap and sliding score the same tokens, the region.
Sources: arXiv 2108.12409 (nonoverlap, sliding), arXiv 2305.19466 (last segment).
"""

from collections.abc import Sequence

import numpy as np

from extrap.utils.errors import UserError
from extrap.model.scheme import OutOfRange
from extrap.tasks.base import Model, Progress, Result, Task, check_at_least, check_multiples, lengths
from extrap.tasks.scoring.text_windows import Windows, check_texts, loss_items, loss_rows, read, sliding, texts, times_scored, tokens_read


def nonoverlap(n: int, start: int, end: int) -> list[Windows]:
    whole, rest = divmod(end - start, n)
    found = [Windows(n, n, tuple(start + n * (i + 1) for i in range(whole)))]
    return found + ([Windows(rest, rest, (end,))] if rest else [])


def last_segment(n: int, scored: int, end: int) -> list[Windows]:
    return [Windows(n, scored, (end,))]


class NLL(Task):
    """Negative log-likelihood in nats per token (metric nll), and in bits per byte: nats / ln 2 over the bytes behind the tokens.

    multiples: evaluated lengths over the training length; stride: step of the sliding windows over the evaluated length;
    documents: of the validation split, spread evenly over those that are long enough; batch_tokens: tokens per forward, which
    changes speed and memory only. The mean is weighted by tokens, its interval a bootstrap over documents. Items: nll_sum (nats)
    and tokens of each document. A loss that is no longer a finite number has the status diverged.
    """

    def __init__(
        self,
        multiples: Sequence[float] = (1, 1.25, 1.5, 2, 4, 8, 16),
        stride: float = 0.125,
        documents: int = 64,
        batch_tokens: int = 4096,
    ):
        self.multiples, self.stride, self.documents, self.batch_tokens = multiples, stride, documents, batch_tokens

    def check(self, corpus, vocabulary, train_length: int) -> None:
        check_multiples("task.nll.multiples", self.multiples, train_length)
        if not 0 < self.stride <= 1:
            raise UserError(f"task.nll.stride={self.stride}: must be a fraction of the evaluated length, above 0 and at most 1")
        check_at_least("task.nll.documents", self.documents, 1)
        check_at_least("task.nll.batch_tokens", self.batch_tokens, 1)
        longest = max(lengths(self.multiples, train_length))
        check_texts(corpus, "nll", self.documents, 2 * longest, f"twice the longest length {longest}")

    def run(self, model: Model, corpus, vocabulary, train_length: int, progress: Progress) -> Result:
        evaluated = sorted(lengths(self.multiples, train_length))
        start, end = evaluated[-1], 2 * evaluated[-1]
        text, sizes = texts(corpus, self.documents, end)
        plan = [
            (protocol, n, windows)
            for n in evaluated
            for protocol, windows in (
                ("nonoverlap", nonoverlap(n, start, end)),
                ("sliding", sliding(n, max(1, round(self.stride * n)), start, end)),
                ("last_segment", last_segment(n, max(1, train_length // 2), end)),
            )
        ]
        cost = [len(text) * tokens_read(windows) for _, _, windows in plan]
        result = Result()
        for at, (protocol, n, windows) in enumerate(plan):
            sums, done = np.zeros(len(text)), sum(cost[:at])
            try:
                for batch in read(model, text, vocabulary.bos, windows, self.batch_tokens):
                    np.add.at(sums, batch.documents, batch.losses.sum(1).numpy())
                    progress(done := done + batch.tokens, sum(cost))
            except OutOfRange:
                continue
            scored = times_scored(windows, end)
            where, tokens = {"protocol": protocol, "length": n}, int(scored.sum())
            result.rows += loss_rows(where, sums, tokens, sizes @ scored)
            result.items += loss_items(where, sums, tokens, text[:, scored > 0])
        progress(sum(cost), sum(cost))
        return result
