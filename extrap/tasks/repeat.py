"""Repeated and non-repeated text: does a reader find again what stands one text length back?
https://kexue.fm/archives/9708.

A window of n tokens reads BOS, y[0], ..., y[n-2] and predicts y[0], ..., y[n-1]. u = period * L, L
the training length:

    nonrepeated    y = x[s], ..., x[s+n-1]                a text that is naturally that long, scored
                   whole
    repeated       y = x[s], ..., x[s+u-1], x[s], ...     the first u of these tokens over and over,
                   scored whole; n > u
    later          the same readings, second and later copies only: y[u], ...
    within         n = L, u = L/2, the second copy only: no position is new, so what is missing here
                   was never learned

Windows start at s = 0, n, 2n, ... within the first tokens of each document, as many as the longest
evaluated length has. A model without a circuit that copies text has nothing to show in a repeated
text; `gain` says whether there is one.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import torch
from annotated_types import Gt
from torch.nn import functional as F

from extrap.model.scheme import OutOfRange
from extrap.results.stats.intervals import bootstrap_mean
from extrap.tasks.base import Counter, Model, Result, batches
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.text_loss import TextLoss, inputs


@dataclass(frozen=True, kw_only=True)
class Repeat(TextLoss):
    """Accuracy of the most likely token, over the whole vocabulary, and nll in nats per token.

    period: tokens of a repeated text over the training length; the other options and intervals:
    extrap.tasks.scoring.text_loss. Metrics, one row each:

    accuracy, nll    of each protocol and length; a loss that is no longer a finite number has the
                     status diverged
    gain             accuracy of `within` less the accuracy on running text in the same slots,
                     paired by document. Unless its interval lies above 0 the model does not copy
                     text even inside L: its repeated columns say nothing about length, and all rows
                     but the rows of nonrepeated have the status `not trained`

    Items: correct, nll_sum (nats) and tokens of each document.
    """

    name: ClassVar[str] = "repeat"
    least: ClassVar[float] = 1

    period: Annotated[float, Gt(0)] = 1.0

    def reach(self, train_length: int) -> tuple[int, str]:
        return max(self.lengths(train_length)), "the longest"

    def check(self, corpus, vocabulary, train_length) -> None:
        super().check(corpus, vocabulary, train_length)
        longest = max(self.lengths(train_length))
        if not 1 <= self.period * train_length < longest:
            least, most = 1 / train_length, longest / train_length
            problem = f"expected from {least:g}, one token, to below {most:g}, the longest length"
            raise self.error("period", problem, "give a period in that range")

    def run(self, model, corpus, vocabulary, train_length, progress) -> Result:
        L, u, ns = train_length, round(self.period * train_length), self.lengths(train_length)
        text, _ = self.texts(corpus, train_length)
        plan = [(n, None) for n in ns] + [(n, u) for n in ns if n > u] + [(L, None), (L, L // 2)]
        cost = [len(text) * (text.shape[1] // n) * n for n, _ in plan]
        recorder, counter = Recorder(), Counter(progress, sum(cost))
        compared, about = [], (text, np.array([u]))
        for at, (n, period) in enumerate(plan):
            try:
                correct, losses = self._scores(model, text, vocabulary.bos, n, period)
            except OutOfRange:
                continue
            counter.up_to(sum(cost[: at + 1]))
            cells = recorder.at(length=n)
            if at >= len(plan) - 2:
                compared.append((correct[:, :, L // 2 :], losses[:, :, L // 2 :]))
            elif period is None:
                _report(cells.at(protocol="nonrepeated"), about, correct, losses)
            else:
                _report(cells.at(protocol="repeated"), about, correct, losses)
                _report(cells.at(protocol="later"), about, correct[:, :, u:], losses[:, :, u:])
        (running, _), (copied, losses) = compared
        within = recorder.at(protocol="within", length=L)
        _report(within, about, copied, losses)
        gained = copied.sum((1, 2)) - running.sum((1, 2))
        low, high = bootstrap_mean(gained, np.full(len(text), copied[0].size))
        counts = {"n": len(text), "tokens": copied.size}
        within.value("gain", gained.sum() / copied.size, low=low, high=high, **counts)
        return recorder.result(lambda protocol: low > 0 or protocol == "nonrepeated")

    @torch.no_grad()
    def _scores(
        self, model: Model, text: np.ndarray, bos: int, n: int, period: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns (documents, windows, n) each: whether the most likely token is right, and the
        loss in nats.
        """
        windows = text[:, : text.shape[1] // n * n].reshape(-1, n)
        targets = torch.from_numpy(windows if period is None else windows[:, np.arange(n) % period])
        correct, losses = np.empty(targets.shape, bool), np.empty(targets.shape)
        for rows in batches(len(targets), n, self.batch_tokens):
            y = targets[rows]
            logits = model(inputs(y, bos), last=n)
            logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
            y = y.to(logits.device)
            correct[rows] = (logits.argmax(-1) == y).cpu().numpy()
            losses[rows] = (
                F.cross_entropy(logits.transpose(1, 2), y, reduction="none").cpu().double().numpy()
            )
        return correct.reshape(len(text), -1, n), losses.reshape(len(text), -1, n)


def _report(cell: Recorder, about: tuple, correct: np.ndarray, losses: np.ndarray) -> None:
    """Rows and items of one protocol at one length; correct, losses: (documents, windows, scored);
    about: the text and its period.
    """
    tokens, nats = correct[0].size, losses.sum((1, 2))
    right = np.where(np.isfinite(nats).all(), correct.sum((1, 2)), np.nan)
    cell.per_token("accuracy", right, tokens)
    cell.per_token("nll", nats, tokens)
    cell.documents({"correct": right, "nll_sum": nats}, tokens, *about)
