"""The worth of more context: the loss of the same last tokens of a text with a growing context,
less their loss with the least context.

The last L/2 tokens before x[e] are scored, L the training length, e the longest context. With a
context of c tokens the model reads BOS, x[e-c], ..., x[e-2]; c = L/2 is the least.

    full      one window of c tokens
    crop      one window of min(c, L) tokens: text further back is thrown away
    window    every token from the last L slots before it: windows of L tokens that advance by
              stride * L; from c = 1.5 L on, where the text reaches back far enough for all of them

gain = nll(c) - nll(L/2), so less is better. It must lie below 0 at c = L: a model that gains
nothing from a context of its training length ignores its context, and its curve says nothing about
length. Past L the baselines show the gain without a longer window: if full is below both, the model
gains from distant text. Sources: arXiv 2305.19466 (same last tokens), arXiv 2108.12409 (windows).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Interval

from extrap.tasks.base import Result
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.text_loss import LastHalf, Losses, Plan, sliding


@dataclass(frozen=True, kw_only=True)
class ContextGain(LastHalf):
    """Metrics nll (nats per token), bits_per_byte, and gain (nats per token) with its interval from
    differences of the same documents.

    Args:
        multiples: contexts over the training length, 1 among them; half of it comes first by itself
        stride: step of `window` over the training length

    The other options: extrap.tasks.scoring.text_loss.

    Unless the interval of the gain at c = L lies below 0, every row has the status `not trained`.
    Items: nll_sum (nats), tokens and gain of each document.
    """

    name: ClassVar[str] = "context-gain"
    needs_one: ClassVar[str] = "the model reads its context"

    stride: Annotated[float, Interval(gt=0, le=0.5)] = 0.125

    def plans(self, train_length: int) -> dict[Any, Plan]:
        L = train_length
        half = train_length // 2
        end = self.lengths(train_length)[-1]
        plans = super().plans(L)
        if end >= L + half:  # else the first of them would begin before the text
            step = max(1, round(self.stride * L))
            plans["window"] = {"full": sliding(L, step, end - half, end)}
        return plans

    def reads_at_once(self, row: Mapping[str, Any], train_length: int) -> int:
        whole = row.get("protocol") == "full"
        return super().reads_at_once(row, train_length) if whole else train_length

    def report(self, read: dict[Any, Losses], train_length: int) -> Result:
        L = train_length
        half = train_length // 2
        contexts = self.lengths(train_length)
        by_cell = {("full", c): read[c] for c in (half, *contexts) if c in read}
        by_cell |= {("crop", c): read[L] for c in contexts if c > L and L in read}
        if "window" in read:
            by_cell |= {("window", c): read["window"] for c in contexts if c >= L + half}
        recorder = Recorder()
        reads = False
        base = None
        if half in read:  # an engine may read less
            of_half, _ = read[half].of("full")
            base = of_half.sum(1)
        for (protocol, c), losses in by_cell.items():
            cell = recorder.at(protocol=protocol, length=c)
            found, places = losses.of("full")
            losses.report(cell, found, places)
            is_base = protocol == "full" and c == half
            if is_base or base is None:
                continue
            gain = found.sum(1) - base
            if not np.isfinite(gain).all():
                continue
            _, high = cell.per_token("gain", gain, half)
            cell.scores("gain", gain / half)
            if protocol == "full" and c == L:
                reads = high < 0
        return recorder.result(reads)
