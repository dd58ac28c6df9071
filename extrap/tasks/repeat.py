"""Repeated and non-repeated text: does a reader find again what stands one text length back? https://kexue.fm/archives/9708.

A window of n tokens reads BOS, y[0], ..., y[n-2] and predicts y[0], ..., y[n-1]. u = period * L, L the training length:

    nonrepeated    y = x[s], ..., x[s+n-1]                a text that is naturally that long, scored whole
    repeated       y = x[s], ..., x[s+u-1], x[s], ...     the first u of these tokens over and over, scored whole; n > u
    later          the same readings, second and later copies only: y[u], ...
    within         n = L, u = L/2, the second copy only: no position is new, so what is missing here was never learned

Windows start at s = 0, n, 2n, ... within the first tokens of each document, as many as the longest evaluated length has. A model
without a circuit that copies text has nothing to show in a repeated text; `gain` says whether there is one.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional as F

from extrap.data.trials.digest import drawn
from extrap.utils.errors import UserError
from extrap.model.scheme import OutOfRange
from extrap.results.stats.intervals import bootstrap_mean
from extrap.tasks.base import Model, Progress, Result, Task, batches, check_at_least, check_multiples, lengths


class Repeat(Task):
    """Accuracy of the most likely token, over the whole vocabulary, and nll in nats per token.

    multiples: evaluated lengths over the training length; period: tokens of a repeated text over the training length; documents: of
    the validation split, spread evenly over those that are long enough; batch_tokens: tokens per forward, which changes speed and
    memory only. Intervals are bootstraps over documents. Metrics, one row each:

    accuracy, nll    of each protocol and length; a loss that is no longer a finite number has the status diverged
    gain             accuracy of `within` less that of running text on the same slots, paired by document. Unless its interval lies
                     above 0 the model does not copy text even inside L: its repeated columns say nothing about length, and all rows
                     but those of nonrepeated have the status `not trained`

    Items: correct, nll_sum (nats) and tokens of each document.
    """

    def __init__(self, multiples: Sequence[float] = (1, 2, 4, 8), period: float = 1.0, documents: int = 64, batch_tokens: int = 4096):
        self.multiples, self.period, self.documents, self.batch_tokens = multiples, period, documents, batch_tokens

    def check(self, corpus, vocabulary, train_length: int) -> None:
        check_multiples("task.repeat.multiples", self.multiples, train_length)
        check_at_least("task.repeat.documents", self.documents, 1)
        check_at_least("task.repeat.batch_tokens", self.batch_tokens, 1)
        longest = max(lengths(self.multiples, train_length))
        if not 1 <= self.period * train_length < longest:
            raise UserError(
                f"task.repeat.period={self.period}: a text of at least one token that is repeated within the longest length, so from "
                f"{1 / train_length:g} to below {longest / train_length:g}, the greatest of task.repeat.multiples"
            )
        found = len(corpus.documents("validation", at_least=longest))
        if found < self.documents:
            raise UserError(
                f"{corpus.option}: {found} validation documents have {longest} tokens or more, the longest of task.repeat.multiples; "
                f"task.repeat.documents={self.documents} are asked for: give more text, or ask for fewer or shorter ones"
            )

    def run(self, model: Model, corpus, vocabulary, train_length: int, progress: Progress) -> Result:
        evaluated, L, u = sorted(lengths(self.multiples, train_length)), train_length, round(self.period * train_length)
        found = corpus.documents("validation", at_least=evaluated[-1])
        text = np.stack([found[i * len(found) // self.documents][: evaluated[-1]] for i in range(self.documents)]).astype(np.int64)
        plan = [(n, None) for n in evaluated] + [(n, u) for n in evaluated if n > u] + [(L, None), (L, L // 2)]
        cost = [len(text) * (text.shape[1] // n) * n for n, _ in plan]
        result, compared, asked = Result(), [], (text, np.array([u]))
        for at, (n, period) in enumerate(plan):
            try:
                correct, losses = self._scores(model, text, vocabulary.bos, n, period)
            except OutOfRange:
                continue
            progress(sum(cost[: at + 1]), sum(cost))
            if at >= len(plan) - 2:
                compared.append((correct[:, :, L // 2 :], losses[:, :, L // 2 :]))
            elif period is None:
                _report(result, {"protocol": "nonrepeated", "length": n}, asked, correct, losses)
            else:
                _report(result, {"protocol": "repeated", "length": n}, asked, correct, losses)
                _report(result, {"protocol": "later", "length": n}, asked, correct[:, :, u:], losses[:, :, u:])
        (running, _), (copied, losses) = compared
        _report(result, {"protocol": "within", "length": L}, asked, copied, losses)
        gained, tokens = copied.sum((1, 2)) - running.sum((1, 2)), np.full(len(text), copied[0].size)
        low, high = bootstrap_mean(gained, tokens)
        row = {"metric": "gain", "value": float(gained.sum() / tokens.sum()), "low": low, "high": high}
        result.rows.append({"protocol": "within", "length": L, "n": len(text), "tokens": copied.size, "status": "ok"} | row)
        if low <= 0:
            result.rows = [
                r | {"status": "not trained"} if r["status"] == "ok" and r["protocol"] != "nonrepeated" else r for r in result.rows
            ]
        return result

    @torch.no_grad()
    def _scores(self, model: Model, text: np.ndarray, bos: int, n: int, period: int | None) -> tuple[np.ndarray, np.ndarray]:
        """(documents, windows, n) each: whether the most likely token is right, and the loss in nats."""
        windows = text[:, : text.shape[1] // n * n].reshape(-1, n)
        targets = torch.from_numpy(windows if period is None else windows[:, np.arange(n) % period])
        correct, losses = np.empty(targets.shape, bool), np.empty(targets.shape)
        for rows in batches(len(targets), n, self.batch_tokens):
            y = targets[rows]
            logits = model(torch.cat([torch.full_like(y[:, :1], bos), y[:, :-1]], 1), last=n)
            logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
            y = y.to(logits.device)
            correct[rows] = (logits.argmax(-1) == y).cpu().numpy()
            losses[rows] = F.cross_entropy(logits.transpose(1, 2), y, reduction="none").cpu().double().numpy()
        return correct.reshape(len(text), -1, n), losses.reshape(len(text), -1, n)


def _report(result: Result, where: dict, asked: tuple, correct: np.ndarray, losses: np.ndarray) -> None:
    """Rows and items of one protocol at one length; correct, losses: (documents, windows, scored); asked: the text and its period."""
    tokens = np.full(len(correct), correct[0].size)
    finite = bool(np.isfinite(losses).all())
    counts = {"n": len(correct), "tokens": int(tokens.sum()), "status": "ok" if finite else "diverged"}
    for metric, sums in (("accuracy", correct.sum((1, 2))), ("nll", losses.sum((1, 2)))):
        low, high = bootstrap_mean(sums, tokens) if finite else (None, None)
        result.rows.append(where | {"metric": metric, "value": float(sums.sum() / tokens.sum()), "low": low, "high": high} | counts)
        for item, total in enumerate(sums if finite else []):
            name = "correct" if metric == "accuracy" else "nll_sum"
            result.items.append(where | {"metric": name, "item": item, "value": float(total)})
    if finite:
        result.items.append(drawn(where, *asked))
    for item, count in enumerate(tokens if finite else []):
        result.items.append(where | {"metric": "tokens", "item": item, "value": float(count)})
