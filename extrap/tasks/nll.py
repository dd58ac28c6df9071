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
region. A window that several protocols share is read once. Sliding windows are read whole, 1/stride
tokens for each scored one: a window lacks the first S tokens of the one before, which the others
carry from the first layer on, so that no cache of keys and values past that layer is exact.
Sources: arXiv 2108.12409 (nonoverlap, sliding), arXiv 2305.19466 (last segment).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from extrap.tasks.base import Result
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.text_loss import Losses, Plan, TextLoss, TextWindow, sliding
from extrap.utils.bounds import Fraction, Multiples


@dataclass(frozen=True, kw_only=True)
class NLL(TextLoss):
    """Negative log-likelihood in nats per token (metric nll), and in bits per byte: nats / ln 2
    over the bytes behind the tokens.

    Args:
        stride: step of the sliding windows over the evaluated length

    The other options, intervals and items: extrap.tasks.scoring.text_loss.

    The mean is weighted by tokens.
    """

    name: ClassVar[str] = "nll"

    multiples: Multiples = (1, 1.25, 1.5, 2, 4, 8, 16)
    stride: Fraction = 0.125

    def reach(self, train_length: int) -> tuple[int, str]:
        longest = max(self.lengths(train_length))
        return 2 * longest, f"twice the longest length {longest}"

    def plans(self, train_length: int) -> dict[Any, Plan]:
        ns = self.lengths(train_length)
        shortest = ns[0]
        start = ns[-1]
        end = 2 * start
        last = max(1, min(train_length, shortest) // 2)
        plans = {}
        for n in ns:
            step = max(1, round(self.stride * n))
            tiles = sliding(n, n, start, end)
            segment = TextWindow(n, last, end)
            plans[n] = {
                "nonoverlap": [window._replace(width=window.scored) for window in tiles],
                "sliding": sliding(n, step, start, end),
                "last_segment": [segment],
            }
        return plans

    def report(self, read: dict[Any, Losses], train_length: int) -> Result:
        recorder = Recorder()
        for n, losses in read.items():
            for protocol in losses.plan:
                cell = recorder.at(length=n, protocol=protocol)
                found, places = losses.of(protocol)
                losses.report(cell, found, places)
        return recorder.result()
