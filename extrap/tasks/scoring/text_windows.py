"""Losses of windows of text: what the tasks that score text share.

A window of n tokens that ends before b reads BOS, x[b-n], ..., x[b-2] (n slots, BOS takes the
first) and predicts x[b-n], ..., x[b-1]; BOS itself is never scored.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from extrap.model.scheme import OutOfRange
from extrap.tasks.base import Counter, Model, Progress, batches, losses_of
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.errors import UserError


@dataclass(frozen=True)
class TextWindows:
    """Windows of one shape in every document: text [end - width, end) for each end, the last
    `scored` predictions count.
    """

    width: int
    scored: int
    ends: tuple[int, ...]


def sliding(n: int, step: int, start: int, end: int) -> list[TextWindows]:
    """Windows of n tokens that advance by `step`, their last `step` predictions scored: together
    those of tokens start ... end - 1.
    """
    whole, rest = divmod(end - start, step)
    found = [TextWindows(n, step, tuple(start + step * (i + 1) for i in range(whole)))]
    return found + ([TextWindows(n, rest, (end,))] if rest else [])


class WindowBatch(NamedTuple):
    """width: of the windows; documents (B,): which document each lies in; ends (B,); losses (B,
    scored) in nats, float64; tokens: how many were read.
    """

    width: int
    documents: np.ndarray
    ends: np.ndarray
    losses: Tensor
    tokens: int


def texts(corpus, documents: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """(text, bytes behind each token), (documents, end) int64 each: the first tokens of documents
    spread evenly over long enough ones.
    """
    found, sizes = (read("validation", at_least=end) for read in (corpus.documents, corpus.sizes))
    chosen = [i * len(found) // documents for i in range(documents)]
    text, behind = (
        np.stack([kind[i][:end] for i in chosen]).astype(np.int64) for kind in (found, sizes)
    )
    return text, behind


def check_texts(corpus, task: str, documents: int, end: int, why: str) -> None:
    """Raises UserError unless so many validation documents have `end` tokens; `why` says where that
    number comes from.
    """
    found = len(corpus.documents("validation", at_least=end))
    if found < documents:
        advice = "give more text, or ask for fewer or shorter ones"
        if corpus.cut is not None and corpus.cut < end:
            advice = (
                f"raise data.corpus.document_tokens={corpus.cut}, which cuts longer ones, or ask "
                "for shorter ones"
            )
        raise UserError(
            f"{corpus.option}: {found} validation documents have {end} tokens or more, {why} of "
            f"task.{task}.multiples; task.{task}.documents={documents} are asked for: {advice}"
        )


def check_halves(corpus, task: str, documents: int, train_length: int, longest: int) -> None:
    """Raises UserError unless L can be halved, for a task whose least context is L / 2, and so many
    validation documents have the longest one.
    """
    if train_length < 2:
        raise UserError(
            f"data.length={train_length}: half of it is the least context; {task} needs at least 2"
        )
    check_texts(corpus, task, documents, longest, "the longest context")


@torch.no_grad()
def read(
    model: Model, text: np.ndarray, bos: int, windows: list[TextWindows], batch_tokens: int
) -> Iterator[WindowBatch]:
    """The losses of all windows in all documents, batch by batch."""
    for w in windows:
        document, stop = (
            a.ravel() for a in np.meshgrid(np.arange(len(text)), w.ends, indexing="ij")
        )
        for rows in batches(len(stop), w.width, batch_tokens):
            slots = stop[rows, None] - w.width + np.arange(w.width)
            targets = torch.from_numpy(text[document[rows, None], slots])
            tokens = torch.cat([torch.full_like(targets[:, :1], bos), targets[:, :-1]], 1)
            losses = losses_of(model, tokens, targets[:, w.width - w.scored :])
            yield WindowBatch(
                w.width, document[rows], stop[rows], losses.cpu().double(), targets.numel()
            )


def read_plans(
    model: Model,
    text: np.ndarray,
    bos: int,
    plans: Mapping[Any, list[TextWindows]],
    batch_tokens: int,
    progress: Progress,
) -> dict[Any, list[WindowBatch]]:
    """The losses of several plans, each by itself; without those that a finite table does not
    reach.
    """
    cost = {name: len(text) * tokens_read(windows) for name, windows in plans.items()}
    counter, found = Counter(progress, sum(cost.values())), {}
    for name, windows in plans.items():
        done, losses = counter.done + cost[name], []
        try:
            for batch in read(model, text, bos, windows, batch_tokens):
                losses.append(batch)
                counter(batch.tokens)
            found[name] = losses
        except OutOfRange:
            pass
        counter.up_to(done)
    return found


def shared(plans: Iterable[list[TextWindows]]) -> list[TextWindows]:
    """The windows of several protocols, each once, scored as far as the one that asks for most."""
    most: dict[tuple[int, int], int] = {}
    for w in (w for windows in plans for w in windows):
        for end in w.ends:
            most[w.width, end] = max(w.scored, most.get((w.width, end), 0))
    ends: dict[tuple[int, int], list[int]] = {}
    for (width, end), scored in most.items():
        ends.setdefault((width, scored), []).append(end)
    return [TextWindows(*shape, tuple(sorted(found))) for shape, found in ends.items()]


def tokens_read(windows: list[TextWindows]) -> int:
    """Tokens of a document that these windows read."""
    return sum(w.width * len(w.ends) for w in windows)


def times_scored(windows: list[TextWindows], end: int) -> np.ndarray:
    """(end,): how often each token of a document is scored."""
    scored = np.zeros(end, np.int64)
    for w in windows:
        for stop in w.ends:
            scored[stop - w.scored : stop] += 1
    return scored


def report_losses(
    cell: Recorder, sums: np.ndarray, tokens: int, sizes: np.ndarray, text: np.ndarray
) -> None:
    """Rows nll and bits_per_byte; items nll_sum (nats) and tokens of each document, and which
    `text` was scored; no items where a loss is no finite number.

    sums, sizes (documents,): nats and bytes behind the `tokens` scored tokens of each.
    """
    cell.loss(sums, tokens, sizes)
    if np.isfinite(sums).all():
        cell.drawn(text)
        cell.scores("nll_sum", sums)
        cell.scores("tokens", [tokens] * len(sums))
