"""Loss against context length, scored in three ways that answer three questions.

All three score tokens of one region of each document, x[s], ..., x[e-1] with s the longest
evaluated length and e = 2 s, so that every window finds real text to its left. A window of length n
that ends before b reads BOS, x[b-n], ..., x[b-2] (n slots, BOS takes the first) and predicts
x[b-n], ..., x[b-1]; BOS itself is never scored.

    nonoverlap     windows tile the region from s on, every prediction counts (the last window is
                   shorter where n does not divide the region). Mixes longer context with fewer
                   predictions at window starts, which have little to read.
    sliding        windows advance by S = stride * n, only their last S predictions count: each has
                   at least n - S slots to read.
    last_segment   one window that ends at e; the last L/2 predictions count, L the training length
                   or, where it is smaller, the shortest length. Same targets, growing context.

The scored tokens are the same at every length; nonoverlap and sliding score the same tokens, the
region. A window that several protocols share is read once. Sources: arXiv 2108.12409 (nonoverlap,
sliding), arXiv 2305.19466 (last segment).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.text import Text
from extrap.tasks.base import AtLengths, Counter, Model, Progress, Result
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.text_windows import (
    TextWindows,
    WindowBatch,
    check_texts,
    read,
    report_losses,
    shared,
    sliding,
    texts,
    times_scored,
    tokens_read,
)
from extrap.utils.bounds import Count, Fraction, Multiples


def nonoverlap(n: int, start: int, end: int) -> list[TextWindows]:
    whole, rest = divmod(end - start, n)
    found = [TextWindows(n, n, tuple(start + n * (i + 1) for i in range(whole)))]
    return found + ([TextWindows(rest, rest, (end,))] if rest else [])


def last_segment(n: int, scored: int, end: int) -> list[TextWindows]:
    return [TextWindows(n, scored, (end,))]


@dataclass(frozen=True, kw_only=True)
class NLL(AtLengths):
    """Negative log-likelihood in nats per token (metric nll), and in bits per byte: nats / ln 2
    over the bytes behind the tokens.

    multiples: evaluated lengths over the training length; stride: step of the sliding windows over
    the evaluated length; documents: of the validation split, spread evenly over those that are long
    enough; batch_tokens: tokens per forward, which changes speed and memory only. The mean is
    weighted by tokens, its interval a bootstrap over documents. Items: nll_sum (nats) and tokens of
    each document. A loss that is no longer a finite number has the status diverged.
    """

    name: ClassVar[str] = "nll"
    inner: ClassVar[bool] = True
    learned_from = Text

    multiples: Multiples = (1, 1.25, 1.5, 2, 4, 8, 16)
    stride: Fraction = 0.125
    documents: Count = 64
    batch_tokens: Count = 4096

    def check(self, corpus, vocabulary, train_length: int) -> None:
        super().check(corpus, vocabulary, train_length)
        longest = max(self.lengths(train_length))
        check_texts(
            corpus, "nll", self.documents, 2 * longest, f"twice the longest length {longest}"
        )

    def run(
        self, model: Model, corpus, vocabulary, train_length: int, progress: Progress
    ) -> Result:
        ns = self.lengths(train_length)
        start, end = ns[-1], 2 * ns[-1]
        last = max(1, min(train_length, ns[0]) // 2)
        text, sizes = texts(corpus, self.documents, end)
        plans = {
            n: {
                "nonoverlap": nonoverlap(n, start, end),
                "sliding": sliding(n, max(1, round(self.stride * n)), start, end),
                "last_segment": last_segment(n, last, end),
            }
            for n in ns
        }
        cost = [len(text) * tokens_read(shared(plans[n].values())) for n in ns]
        recorder, counter = Recorder(), Counter(progress, sum(cost))
        for at, (n, plan) in enumerate(plans.items()):
            sums = {protocol: np.zeros(len(text)) for protocol in plan}
            with recorder.at(length=n).within_range() as cells:
                windows = shared(plan.values())
                for batch in read(model, text, vocabulary.bos, windows, self.batch_tokens):
                    for protocol, own in plan.items():
                        _add(sums[protocol], batch, own)
                    counter(batch.tokens)
                for protocol, own in plan.items():
                    scored = times_scored(own, end)
                    tokens, bytes_of = int(scored.sum()), sizes @ scored
                    cell = cells.at(protocol=protocol)
                    report_losses(cell, sums[protocol], tokens, bytes_of, text[:, scored > 0])
            counter.up_to(sum(cost[: at + 1]))
        return recorder.result()


def _add(sums: np.ndarray, batch: WindowBatch, windows: list[TextWindows]) -> None:
    """Adds to sums (documents,) what these windows score of a batch."""
    for w in windows:
        rows = np.flatnonzero(np.isin(batch.ends, w.ends))
        if batch.width == w.width and len(rows):
            losses = batch.losses[rows, -w.scored :]
            np.add.at(sums, batch.documents[rows], losses.sum(1).numpy())
