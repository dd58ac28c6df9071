"""Loss on the tokens that a long context helps, next to the loss on all tokens.

The last L/2 tokens before x[e] are scored, L the training length, e the longest context, in windows
of c tokens that end there (c = L/2 is the least, as in extrap.tasks.context_gain). A few words
predict most tokens; the worth of a long context shows on the others alone:

    all      every scored token
    match    tokens that a distant copy predicts: the last time the `match` tokens before such a
             token occurred, more than L tokens back and not since, the same token followed. These
             are the same tokens for every run of a study, so that runs are compared on them
    own      tokens that the run itself predicts better within L: the loss falls by `gain` nats from
             c = L/2 to c = L, and ends below `loss` nats. Every run has its own: they show whether
             a run keeps past L what a long context gave it, and compare no two runs

Source: LongPPL, arXiv 2410.23771, where one strong model chooses the tokens for all by the rule of
`own` with gain 2 and loss 2, of words; here `match` takes the place of that model.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Gt
from numpy.lib.stride_tricks import sliding_window_view

from extrap.tasks.base import Result
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.text_loss import LastHalf, Losses
from extrap.utils.bounds import Count

Nats = Annotated[float, Gt(0)]


def matched(text: np.ndarray, start: int, match: int, far: int) -> np.ndarray:
    """Returns (documents, T - start) bool: the tokens from `start` on that a distant match of the
    last `match` tokens predicts.

    text (documents, T). Token x[t] counts if the `match` tokens before it occurred earlier, the
    token after their last occurrence was x[t] as well, and that token p is more than `far` tokens
    back, t - p > far.
    """
    documents, T = text.shape
    first = max(start, match)
    chosen = np.zeros((documents, T - start), bool)
    for row, out in zip(text, chosen, strict=True):
        grams = sliding_window_view(row, match)  # grams[p - match] stands before p
        for t in range(first, T):
            gram = t - match
            same = (grams[:gram] == grams[gram]).all(1)
            before = np.flatnonzero(same)
            if len(before):
                p = int(before[-1]) + match
                is_far = t - p > far
                out[t - start] = is_far and row[p] == row[t]
    return chosen


@dataclass(frozen=True, kw_only=True)
class LongLoss(LastHalf):
    """Metrics nll (nats per token) and share (of the scored tokens), protocols all, match, own.

    Args:
        multiples: contexts over the training length, 1 among them; half of it comes first by itself
        match: tokens that stand before
        gain, loss: nats of `own`

    The other options, intervals and items: extrap.tasks.scoring.text_loss.

    A protocol that chooses no token has the row share alone. If a loss at L/2 or L is no finite
    number, nobody knows the tokens of `own`: its rows are nan and `diverged`.
    """

    name: ClassVar[str] = "long-loss"
    needs_one: ClassVar[str] = "a longer context helps the run"

    match: Count = 6
    gain: Nats = 1.0
    loss: Nats = 2.0

    def report(self, read: dict[Any, Losses], train_length: int) -> Result:
        L = train_length
        half = train_length // 2
        if not {L, half} <= read.keys():  # an engine may read less
            return Recorder().result()
        found = {}
        for c, losses in read.items():
            found[c], _ = losses.of("full")
        text = read[half].text
        documents, T = text.shape
        gained = found[half] - found[L] > self.gain
        known = found[L] < self.loss
        chosen = {
            "all": np.ones((documents, half), bool),
            "match": matched(text, T - half, self.match, L),
            "own": gained & known,
        }
        recorder = Recorder()
        if not (np.isfinite(found[half]) & np.isfinite(found[L])).all():
            del chosen["own"]
            cells = recorder.at(protocol="own")
            cells.value("share", np.nan, n=documents, tokens=documents * half)
            for c in found:
                cells.at(length=c).value("nll", np.nan, n=documents)
        for protocol, tokens in chosen.items():
            share = tokens.mean()
            cells = recorder.at(protocol=protocol)
            cells.value("share", share, n=documents, tokens=tokens.size)
            counts = tokens.sum(1)
            if not counts.any():
                continue
            scored = np.where(tokens, text[:, -half:], -1)
            for c, losses in found.items():
                cell = cells.at(length=c)
                of_chosen = np.where(tokens, losses, 0.0)
                sums = of_chosen.sum(1)
                cell.per_token("nll", sums, counts)
                cell.documents({"nll_sum": sums}, counts, scored)
        return recorder.result()
