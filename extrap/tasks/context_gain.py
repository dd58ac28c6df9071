"""What more context is worth: the loss of the same last tokens of a text with a growing context,
less that with the least.

The last L/2 tokens before x[e] are scored, L the training length, e the longest context. With a
context of c tokens the model reads BOS, x[e-c], ..., x[e-2]; c = L/2 is the least.

    full      one window of c tokens
    crop      one window of min(c, L) tokens: what is further back is thrown away
    window    every token from the last L slots before it: windows of L tokens that advance by
              stride * L; from c = 1.5 L on, where the text reaches back far enough for all of them

gain = nll(c) - nll(L/2), so less is better. It must lie below 0 at c = L: a model that does not
gain from a context that it was trained on ignores its context, and its curve says nothing about
length. Past L the baselines tell what can be had without reading further: full below both gains
from far text. Sources: arXiv 2305.19466 (same last tokens), arXiv 2108.12409 (windows).
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval

from extrap.data.text import Text
from extrap.results.stats.paired import paired_difference
from extrap.tasks.base import AtLengths, Model, Progress, Result
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.text_windows import (
    TextWindows,
    check_halves,
    read_plans,
    report_losses,
    sliding,
    texts,
)
from extrap.utils.bounds import Count


@dataclass(frozen=True, kw_only=True)
class ContextGain(AtLengths):
    """Metrics nll (nats per token), bits_per_byte, and gain (nats per token) with its interval from
    differences of the same documents.

    multiples: contexts over the training length, 1 among them; half of it comes first by itself.
    stride: step of `window` over the training length; documents: of the validation split, spread
    evenly over those that are long enough; batch_tokens: tokens per forward, which changes speed
    and memory only. Unless the interval of the gain at c = L lies below 0, every row has the status
    `not trained`. Items: nll_sum (nats), tokens and gain of each document.
    """

    name: ClassVar[str] = "context-gain"
    inner: ClassVar[bool] = True
    least: ClassVar[float] = 1
    learned_from = Text
    needs_one: ClassVar[str] = "the model reads its context"

    stride: Annotated[float, Interval(gt=0, le=0.5)] = 0.125
    documents: Count = 64
    batch_tokens: Count = 4096

    def check(self, corpus, vocabulary, train_length: int) -> None:
        super().check(corpus, vocabulary, train_length)
        longest = max(self.lengths(train_length))
        check_halves(corpus, self.name, self.documents, train_length, longest)

    def run(
        self, model: Model, corpus, vocabulary, train_length: int, progress: Progress
    ) -> Result:
        L, half = train_length, train_length // 2
        contexts = self.lengths(L)
        end, step = contexts[-1], max(1, round(self.stride * L))
        text, sizes = texts(corpus, self.documents, end)
        plan: dict[int | str, list[TextWindows]] = {
            c: [TextWindows(c, half, (end,))] for c in (half, *contexts)
        }
        if end >= L + half:  # else the first of them would begin before the text
            plan["window"] = sliding(L, step, end - half, end)
        sums = {}
        read = read_plans(model, text, vocabulary.bos, plan, self.batch_tokens, progress)
        for name, batches in read.items():
            sums[name] = np.zeros(len(text))
            for batch in batches:
                np.add.at(sums[name], batch.documents, batch.losses.sum(1).numpy())
        by_cell = {("full", c): sums[c] for c in (half, *contexts) if c in sums}
        by_cell |= {("crop", c): sums[L] for c in contexts if c > L}
        by_cell |= {
            ("window", c): sums["window"] for c in contexts if c >= L + half and "window" in sums
        }
        return self._report(by_cell, text[:, end - half :], L, sizes[:, end - half :].sum(1))

    def _report(self, by_cell: dict, scored: np.ndarray, L: int, sizes: np.ndarray) -> Result:
        """by_cell: {(protocol, context): (documents,) summed losses in nats}; sizes: bytes behind
        the `scored` tokens.
        """
        half = scored.shape[1]
        recorder, base, reads = Recorder(), by_cell["full", half], False
        for (protocol, c), sums in by_cell.items():
            cell = recorder.at(protocol=protocol, length=c)
            report_losses(cell, sums, half, sizes, scored)
            if (protocol, c) == ("full", half) or not np.isfinite(sums + base).all():
                continue
            gain, low, high = paired_difference(sums, base, np.full(len(sums), half))
            counts = {"n": len(sums), "tokens": half * len(sums)}
            cell.value("gain", gain, low=low, high=high, **counts)
            cell.scores("gain", (sums - base) / half)
            reads = reads or ((protocol, c) == ("full", L) and high < 0)
        return recorder.result(reads)
