"""Answers of several tokens: exactness in one forward pass, and greedy decoding where the text
itself is needed.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch

from extrap.model.past import Past
from extrap.tasks.base import Model, batches
from extrap.tasks.scoring.answers import NONE, hits, likely, right


def _alike(sizes: Sequence, batch_tokens: int, extra: int = 0) -> Iterator[list[int]]:
    """Yields batches of sequences of one size, a tuple that begins with the length in tokens."""
    for size in sorted(set(sizes)):
        same = [i for i, other in enumerate(sizes) if other == size]
        yield from (same[rows] for rows in batches(len(same), size[0] + extra, batch_tokens))


@torch.no_grad()
def exact(
    model: Model,
    prompts: Sequence[np.ndarray],
    answers: Sequence[np.ndarray],
    batch_tokens: int,
    ends: Callable[[int], bool] | None = None,
) -> np.ndarray:
    """Returns (n,): 1 if greedy decoding after the prompt begins with the answer, else 0; nan
    without a most likely token. Both are 1-d arrays of ids, answers not empty; ends: whether the
    token behind an answer ends it, None for any token.

    The model reads the answer along with the prompt. Greedy decoding would say this answer if each
    of its tokens is the most likely one after the tokens before it: one forward, the same as
    generation.
    """
    found = np.zeros(len(prompts))
    sizes = [(len(p), len(a)) for p, a in zip(prompts, answers, strict=True)]
    for rows in _alike(sizes, batch_tokens):
        wanted = np.stack([answers[i] for i in rows])
        if hasattr(model, "greedy"):
            said = _said(model, [prompts[i] for i in rows], wanted.shape[1] + (ends is not None))
            found[rows] = right(said[:, : wanted.shape[1]], wanted).min(1)
            if ends is not None:
                found[rows] *= [ends(last) for last in said[:, -1].tolist()]
            continue
        tokens = np.concatenate([np.stack([prompts[i] for i in rows]), wanted], axis=1)
        if ends is None:
            logits = model(torch.from_numpy(tokens[:, :-1]), last=wanted.shape[1])
            found[rows] = hits(logits, wanted).min(1)
            continue
        named = likely(model(torch.from_numpy(tokens), last=wanted.shape[1] + 1)).cpu().numpy()
        closed = [np.nan if last == NONE else ends(last) for last in named[:, -1].tolist()]
        found[rows] = np.minimum(right(named[:, :-1], wanted).min(1), closed)
    return found


@torch.no_grad()
def greedy(
    model: Model, prompts: Sequence[np.ndarray], count: int, batch_tokens: int
) -> np.ndarray:
    """Returns (n, count) int64: the `count` tokens that follow each prompt, each the most likely
    one after the tokens before it; NONE from the first place on that has none.

    A model reads a guess along with the text. The guess is right up to the first token that differs
    from the prediction, whose place the prediction takes. That takes at most `count` forwards, and
    few if the text copies or repeats itself. A GPT whose past stays as it is reads the prompt once;
    for another model each forward reads the whole text. An extension that depends on the length
    (dynamic NTK) sees the length of the whole answer from the first token on, as in `exact`.
    Source: speculative decoding, arXiv 2211.17192, with `guess` in place of a model.
    """
    out = np.zeros((len(prompts), count), np.int64)
    if hasattr(model, "greedy"):
        for rows in _alike([(len(p),) for p in prompts], batch_tokens, count):
            out[rows] = _said(model, [prompts[i] for i in rows], count)
        return out
    for rows in _alike([(len(p),) for p in prompts], batch_tokens, count):
        known = dict.fromkeys(rows, 0)
        if len(rows) and _continues(model, len(rows), len(prompts[rows[0]]), count):
            out[rows] = _followed(model, [prompts[i] for i in rows], count)
            continue
        while left := [i for i in rows if known[i] < count]:
            texts = [np.concatenate([prompts[i], out[i, : known[i]]]) for i in left]
            guesses = [guess(text, count - known[i]) for i, text in zip(left, texts, strict=True)]
            read = np.stack([np.concatenate(both) for both in zip(texts, guesses, strict=True)])
            logits = model(torch.from_numpy(read[:, :-1]), last=count)
            predicted = likely(logits).cpu().numpy()
            agreed = (predicted == read[:, -count:]).cumprod(1).sum(1).tolist()
            for i, tokens, n in zip(left, predicted, agreed, strict=True):
                ends = NONE in tokens[n : n + 1]
                out[i] = np.where(np.arange(count) < n, tokens, NONE) if ends else tokens
                known[i] = count if ends else min(n + 1, count)
    return out


def _continues(model: Model, texts: int, prompt: int, count: int) -> bool:
    return hasattr(model, "continues") and model.continues(texts, prompt, prompt + count)


def _followed(model: Model, prompts: Sequence[np.ndarray], count: int) -> np.ndarray:
    """Returns the tokens that follow prompts of one length. Each forward reads a guess on from the
    past of the text, and keeps what all prompts of the batch have right.
    """
    start, past = np.stack(prompts), Past()
    found = np.full((len(start), count), NONE, np.int64)
    ended = np.zeros(len(start), bool)
    known = 0
    while known < count:
        text = np.concatenate([start, found[:, :known].clip(0)], 1)
        guesses = np.stack([guess(row, count - known) for row in text])
        read = np.concatenate([text, guesses], 1)[:, :-1]
        logits = model.further(torch.from_numpy(read), last=count - known, past=past)
        predicted = likely(logits).cpu().numpy()
        agreed = (predicted == guesses).cumprod(1).sum(1)
        new = min(agreed[~ended].min(initial=count) + 1, count - known)
        for n in range(new):
            found[~ended, known + n] = predicted[~ended, n]
            ended |= found[:, known + n] == NONE
        known += new
        past = past.first(start.shape[1] + known - 1)
    return found


def _said(model: Model, prompts: Sequence[np.ndarray], count: int) -> np.ndarray:
    """Returns the answers of an engine to prompts of one length: (n, count) int64."""
    ids, _ = model.greedy(torch.from_numpy(np.stack(prompts)), count)
    return ids.numpy()


def guess(text: np.ndarray, count: int) -> np.ndarray:
    """Returns (count,): the tokens that followed the last occurrence of the last 8, 4, 2 or 1
    tokens (the most that occurred before); else the last token, repeated.
    """
    for width in (8, 4, 2, 1):
        if len(text) > width:
            earlier = np.lib.stride_tricks.sliding_window_view(text[:-1], width)
            found = np.flatnonzero((earlier == text[-width:]).all(1))
            if len(found):
                return np.resize(text[found[-1] + width :], count)
    return np.full(count, text[-1])
