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

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as F

from extrap.errors import UserError
from extrap.scheme import OutOfRange
from extrap.stats import bootstrap_mean
from extrap.task import Model, Progress, Result, Task, batches, check_at_least, check_multiples, lengths


@dataclass(frozen=True)
class Windows:
    """Windows of one shape in every document: text [end - width, end) for each end, the last `scored` predictions count."""

    width: int
    scored: int
    ends: tuple[int, ...]


def nonoverlap(n: int, start: int, end: int) -> list[Windows]:
    whole, rest = divmod(end - start, n)
    found = [Windows(n, n, tuple(start + n * (i + 1) for i in range(whole)))]
    return found + ([Windows(rest, rest, (end,))] if rest else [])


def sliding(n: int, step: int, start: int, end: int) -> list[Windows]:
    whole, rest = divmod(end - start, step)
    found = [Windows(n, step, tuple(start + step * (i + 1) for i in range(whole)))]
    return found + ([Windows(n, rest, (end,))] if rest else [])


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
        found = len(corpus.documents("validation", at_least=2 * longest))
        if found < self.documents:
            raise UserError(
                f"{corpus.option}: {found} validation documents have {2 * longest} tokens or more, twice the longest length {longest} of "
                f"task.nll.multiples; task.nll.documents={self.documents} are asked for: give more text, or ask for fewer or shorter ones"
            )

    def run(self, model: Model, corpus, vocabulary, train_length: int, progress: Progress) -> Result:
        evaluated = sorted(lengths(self.multiples, train_length))
        start, end = evaluated[-1], 2 * evaluated[-1]
        found = corpus.documents("validation", at_least=end)
        chosen = [i * len(found) // self.documents for i in range(self.documents)]
        text = np.stack([found[i][:end] for i in chosen]).astype(np.int64)
        sizes = corpus.sizes("validation", at_least=end)
        sizes = np.stack([sizes[i][:end] for i in chosen]).astype(np.int64)
        plan = [
            (protocol, n, windows)
            for n in evaluated
            for protocol, windows in (
                ("nonoverlap", nonoverlap(n, start, end)),
                ("sliding", sliding(n, max(1, round(self.stride * n)), start, end)),
                ("last_segment", last_segment(n, max(1, train_length // 2), end)),
            )
        ]
        cost = [len(text) * sum(w.width * len(w.ends) for w in windows) for _, _, windows in plan]
        result = Result()
        for at, (protocol, n, windows) in enumerate(plan):
            sums, done = np.zeros(len(text)), sum(cost[:at])
            try:
                for documents, losses, read in self._losses(model, text, vocabulary.bos, windows):
                    np.add.at(sums, documents, losses)
                    progress(done := done + read, sum(cost))
            except OutOfRange:
                continue
            scored = np.zeros(end, np.int64)
            for w in windows:
                for stop in w.ends:
                    scored[stop - w.scored : stop] += 1
            self._report(result, {"protocol": protocol, "length": n}, sums, int(scored.sum()), sizes @ scored)
        progress(sum(cost), sum(cost))
        return result

    @torch.no_grad()
    def _losses(self, model: Model, text: np.ndarray, bos: int, windows: list[Windows]) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
        """(document of each window, its summed loss in nats, tokens read), batch by batch."""
        for w in windows:
            document, stop = (a.ravel() for a in np.meshgrid(np.arange(len(text)), w.ends, indexing="ij"))
            for rows in batches(len(stop), w.width, self.batch_tokens):
                slots = stop[rows, None] - w.width + np.arange(w.width)
                targets = torch.from_numpy(text[document[rows, None], slots])
                logits = model(torch.cat([torch.full_like(targets[:, :1], bos), targets[:, :-1]], 1), last=w.scored)
                logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
                scored = targets[:, w.width - w.scored :].to(logits.device)
                losses = F.cross_entropy(logits.flatten(0, 1), scored.flatten(), reduction="none").view(scored.shape)
                yield document[rows], losses.cpu().double().sum(1).numpy(), targets.numel()

    @staticmethod
    def _report(result: Result, where: dict, sums: np.ndarray, tokens: int, sizes: np.ndarray) -> None:
        """Rows and items of one way of scoring at one length; every document has the same number of scored tokens.

        sizes: bytes behind the scored tokens of every document.
        """
        nll, finite = float(sums.mean() / tokens), bool(np.isfinite(sums).all())
        counts = {"n": len(sums), "tokens": tokens * len(sums), "status": "ok" if finite else "diverged"}
        for metric, unit, over in (("nll", 1.0, np.full(len(sums), tokens)), ("bits_per_byte", math.log(2), sizes)):
            low, high = bootstrap_mean(sums, over) if finite else (None, None)
            bounds = {"low": low / unit, "high": high / unit} if finite else {}
            per = tokens * len(sums) / int(over.sum())  # exactly 1 where a token is a byte
            result.rows.append(where | {"metric": metric, "value": nll * per / unit} | bounds | counts)
        for item, total in enumerate(sums if finite else []):
            scores = {"nll_sum": float(total), "tokens": float(tokens)}
            result.items.extend(where | {"metric": metric, "item": item, "value": value} for metric, value in scores.items())
