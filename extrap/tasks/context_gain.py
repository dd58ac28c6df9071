"""What more context is worth: the loss of the same last tokens of a text with a growing context, less that with the least.

The last L/2 tokens before x[e] are scored, L the training length, e the longest context. With a context of c tokens the model reads
BOS, x[e-c], ..., x[e-2]; c = L/2 is the least.

    full      one window of c tokens
    crop      one window of min(c, L) tokens: what is further back is thrown away
    window    every token from the last L slots before it: windows of L tokens that advance by stride * L; from c = 1.5 L on, where
              the text reaches back far enough for all of them

gain = nll(c) - nll(L/2), so less is better. It must lie below 0 at c = L: a model that does not gain from a context that it was trained
on ignores its context, and its curve says nothing about length. Past L the baselines tell what can be had without reading further: full
below both gains from far text. Sources: arXiv 2305.19466 (same last tokens), arXiv 2108.12409 (windows).
"""

from collections.abc import Sequence

import numpy as np

from extrap.utils.errors import UserError
from extrap.results.stats.paired import paired_difference
from extrap.model.scheme import OutOfRange
from extrap.tasks.base import Model, Progress, Result, Task, check_at_least, check_multiples, lengths
from extrap.tasks.scoring.text_windows import Windows, check_texts, loss_items, loss_rows, read, sliding, texts, tokens_read


class ContextGain(Task):
    """Metrics nll (nats per token), bits_per_byte, and gain (nats per token) with its interval from differences of the same documents.

    multiples: contexts over the training length, 1 among them; half of it comes first by itself. stride: step of `window` over the
    training length; documents: of the validation split, spread evenly over those that are long enough; batch_tokens: tokens per forward,
    which changes speed and memory only. Unless the interval of the gain at c = L lies below 0, every row has the status `not trained`.
    Items: nll_sum (nats), tokens and gain of each document.
    """

    def __init__(
        self,
        multiples: Sequence[float] = (1, 2, 4, 8),
        stride: float = 0.125,
        documents: int = 64,
        batch_tokens: int = 4096,
    ):
        self.multiples, self.stride, self.documents, self.batch_tokens = multiples, stride, documents, batch_tokens

    def check(self, corpus, vocabulary, train_length: int) -> None:
        option = f"task.context-gain.multiples={list(self.multiples)}"
        check_multiples("task.context-gain.multiples", self.multiples, train_length)
        if 1 not in self.multiples:
            raise UserError(f"{option}: must hold 1, where it shows whether the model reads its context")
        if train_length < 2:
            raise UserError(f"train.length={train_length}: half of it is the least context; context-gain needs at least 2")
        if not 0 < self.stride <= 0.5:
            raise UserError(f"task.context-gain.stride={self.stride}: must be a fraction of the training length, above 0 and at most 0.5")
        check_at_least("task.context-gain.documents", self.documents, 1)
        check_at_least("task.context-gain.batch_tokens", self.batch_tokens, 1)
        longest = max(lengths(self.multiples, train_length))
        check_texts(corpus, "context-gain", self.documents, longest, "the longest context")

    def run(self, model: Model, corpus, vocabulary, train_length: int, progress: Progress) -> Result:
        L, half, contexts = train_length, train_length // 2, sorted(lengths(self.multiples, train_length))
        end, step = contexts[-1], max(1, round(self.stride * train_length))
        text, sizes = texts(corpus, self.documents, end)
        bytes_scored = sizes[:, end - half :].sum(1)
        plan = {c: [Windows(c, half, (end,))] for c in (half, *contexts)}
        if end >= L + half:  # else the first of them would begin before the text
            plan["window"] = sliding(L, step, end - half, end)
        cost = {name: len(text) * tokens_read(windows) for name, windows in plan.items()}
        sums, done = {}, 0
        for name, windows in plan.items():
            total = np.zeros(len(text))
            try:
                for batch in read(model, text, vocabulary.bos, windows, self.batch_tokens):
                    np.add.at(total, batch.documents, batch.losses.sum(1).numpy())
                    progress(done := done + batch.tokens, sum(cost.values()))
            except OutOfRange:
                continue
            sums[name] = total
        found = {("full", c): sums[c] for c in (half, *contexts) if c in sums}
        found |= {("crop", c): sums[L] for c in contexts if c > L}
        found |= {("window", c): sums["window"] for c in contexts if c >= L + half and "window" in sums}
        result = self._report(found, text[:, end - half :], L, bytes_scored)
        progress(sum(cost.values()), sum(cost.values()))
        return result

    def _report(self, found: dict, scored: np.ndarray, L: int, sizes: np.ndarray) -> Result:
        """found: {(protocol, context): (documents,) summed losses in nats}; sizes: bytes behind the `scored` tokens."""
        half = scored.shape[1]
        result, base, reads = Result(), found["full", half], False
        for (protocol, c), sums in found.items():
            where = {"protocol": protocol, "length": c}
            result.rows += loss_rows(where, sums, half, sizes)
            result.items += loss_items(where, sums, half, scored)
            if (protocol, c) == ("full", half) or not np.isfinite(sums + base).all():
                continue
            gain, low, high = paired_difference(sums, base, np.full(len(sums), half))
            counts = {"n": len(sums), "tokens": half * len(sums), "status": "ok"}
            result.rows.append(where | {"metric": "gain", "value": gain, "low": low, "high": high} | counts)
            result.items += [where | {"metric": "gain", "item": i, "value": float(d)} for i, d in enumerate((sums - base) / half)]
            reads = reads or ((protocol, c) == ("full", L) and high < 0)
        if not reads:
            result.rows = [row | {"status": "not trained"} if row["status"] == "ok" else row for row in result.rows]
        return result
