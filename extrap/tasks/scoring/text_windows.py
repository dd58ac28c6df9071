"""Losses of windows of text: what the tasks that score text share.

A window of n tokens that ends before b reads BOS, x[b-n], ..., x[b-2] (n slots, BOS takes the first) and predicts x[b-n], ..., x[b-1];
BOS itself is never scored.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from extrap.data.trials.digest import drawn
from extrap.utils.errors import UserError
from extrap.results.stats.intervals import bootstrap_mean
from extrap.tasks.base import Model, batches


@dataclass(frozen=True)
class Windows:
    """Windows of one shape in every document: text [end - width, end) for each end, the last `scored` predictions count."""

    width: int
    scored: int
    ends: tuple[int, ...]


def sliding(n: int, step: int, start: int, end: int) -> list[Windows]:
    """Windows of n tokens that advance by `step`, their last `step` predictions scored: together those of tokens start ... end - 1."""
    whole, rest = divmod(end - start, step)
    found = [Windows(n, step, tuple(start + step * (i + 1) for i in range(whole)))]
    return found + ([Windows(n, rest, (end,))] if rest else [])


class Batch(NamedTuple):
    """documents (B,): which document each window lies in; ends (B,); losses (B, scored) in nats, float64; tokens: how many were read."""

    documents: np.ndarray
    ends: np.ndarray
    losses: Tensor
    tokens: int


def texts(corpus, documents: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """(text, bytes behind each token), (documents, end) int64 each: the first tokens of documents spread evenly over long enough ones."""
    found, sizes = (read("validation", at_least=end) for read in (corpus.documents, corpus.sizes))
    chosen = [i * len(found) // documents for i in range(documents)]
    return tuple(np.stack([kind[i][:end] for i in chosen]).astype(np.int64) for kind in (found, sizes))


def check_texts(corpus, task: str, documents: int, end: int, why: str) -> None:
    """Raises UserError unless so many validation documents have `end` tokens; `why` says where that number comes from."""
    found = len(corpus.documents("validation", at_least=end))
    if found < documents:
        raise UserError(
            f"{corpus.option}: {found} validation documents have {end} tokens or more, {why} of task.{task}.multiples; "
            f"task.{task}.documents={documents} are asked for: give more text, or ask for fewer or shorter ones"
        )


@torch.no_grad()
def read(model: Model, text: np.ndarray, bos: int, windows: list[Windows], batch_tokens: int) -> Iterator[Batch]:
    """The losses of all windows in all documents, batch by batch."""
    for w in windows:
        document, stop = (a.ravel() for a in np.meshgrid(np.arange(len(text)), w.ends, indexing="ij"))
        for rows in batches(len(stop), w.width, batch_tokens):
            slots = stop[rows, None] - w.width + np.arange(w.width)
            targets = torch.from_numpy(text[document[rows, None], slots])
            logits = model(torch.cat([torch.full_like(targets[:, :1], bos), targets[:, :-1]], 1), last=w.scored)
            logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
            scored = targets[:, w.width - w.scored :].to(logits.device)
            losses = F.cross_entropy(logits.flatten(0, 1), scored.flatten(), reduction="none").view(scored.shape)
            yield Batch(document[rows], stop[rows], losses.cpu().double(), targets.numel())


def tokens_read(windows: list[Windows]) -> int:
    """Tokens of a document that these windows read."""
    return sum(w.width * len(w.ends) for w in windows)


def times_scored(windows: list[Windows], end: int) -> np.ndarray:
    """(end,): how often each token of a document is scored."""
    scored = np.zeros(end, np.int64)
    for w in windows:
        for stop in w.ends:
            scored[stop - w.scored : stop] += 1
    return scored


def loss_rows(where: dict, sums: np.ndarray, tokens: int, sizes: np.ndarray) -> list[dict]:
    """Rows nll (nats per token) and bits_per_byte, their intervals bootstraps over documents, which all have `tokens` scored tokens.

    sums, sizes: (documents,), nats and bytes behind the scored tokens. A loss that is no finite number has the status diverged.
    """
    nll, finite = float(sums.mean() / tokens), bool(np.isfinite(sums).all())
    counts = {"n": len(sums), "tokens": tokens * len(sums), "status": "ok" if finite else "diverged"}
    out = []
    for metric, unit, over in (("nll", 1.0, np.full(len(sums), tokens)), ("bits_per_byte", math.log(2), sizes)):
        low, high = bootstrap_mean(sums, over) if finite else (None, None)
        bounds = {"low": low / unit, "high": high / unit} if finite else {}
        per = tokens * len(sums) / int(over.sum())  # exactly 1 where a token is a byte
        out.append(where | {"metric": metric, "value": nll * per / unit} | bounds | counts)
    return out


def loss_items(where: dict, sums: np.ndarray, tokens: int, text: np.ndarray) -> list[dict]:
    """Items nll_sum (nats) and tokens of each document, and which `text` was scored; none where a loss is no finite number."""
    if not np.isfinite(sums).all():
        return []
    out = [drawn(where, text)]
    for item, total in enumerate(sums):
        scores = {"nll_sum": float(total), "tokens": float(tokens)}
        out.extend(where | {"metric": metric, "item": item, "value": value} for metric, value in scores.items())
    return out
