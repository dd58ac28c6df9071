"""Answers of several tokens: exactness in one forward pass, and greedy decoding where the text
itself is needed.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from extrap.tasks.base import Model, batches


def _alike(sizes: Sequence, batch_tokens: int, extra: int = 0) -> Iterator[list[int]]:
    """Which sequences are read together: those of one size; sizes are tuples that begin with the
    length in tokens.
    """
    for size in sorted(set(sizes)):
        same = [i for i, other in enumerate(sizes) if other == size]
        yield from (same[rows] for rows in batches(len(same), size[0] + extra, batch_tokens))


@torch.no_grad()
def exact(
    model: Model, prompts: Sequence[np.ndarray], answers: Sequence[np.ndarray], batch_tokens: int
) -> np.ndarray:
    """(n,) bool: does greedy decoding after the prompt begin with the answer. Both are 1-d arrays
    of ids, answers not empty.

    The answer is read along with the prompt, and is what greedy decoding would say where each of
    its tokens is the most likely one after those before it: one forward, the same as generation.
    """
    found = np.zeros(len(prompts), bool)
    for rows in _alike(
        [(len(p), len(a)) for p, a in zip(prompts, answers, strict=True)], batch_tokens
    ):
        right = np.stack([answers[i] for i in rows])
        tokens = np.concatenate([np.stack([prompts[i] for i in rows]), right[:, :-1]], axis=1)
        predicted = model(torch.from_numpy(tokens), last=right.shape[1]).argmax(-1)
        found[rows] = (predicted.cpu().numpy() == right).all(1)
    return found


@torch.no_grad()
def greedy(
    model: Model, prompts: Sequence[np.ndarray], count: int, batch_tokens: int
) -> np.ndarray:
    """(n, count) int64: the `count` tokens that follow each prompt, each the most likely one after
    those before it.

    A guess is read along, whose tokens are right as far as each is what the reader says after those
    before it; then one more token is known, what it says there. At most `count` forwards, as token
    by token, and a few where a text copies or repeats itself: readers have no cache, and long
    prompts are read anew every time. A reader that follows the length it reads (dynamic NTK) reads
    that of the whole answer from the first token on, as in `exact`. Source: speculative decoding,
    arXiv 2211.17192, with `likely` in place of a model.
    """
    out = np.zeros((len(prompts), count), np.int64)
    for rows in _alike([(len(p),) for p in prompts], batch_tokens, count):
        known = dict.fromkeys(rows, 0)
        while left := [i for i in rows if known[i] < count]:
            texts = [np.concatenate([prompts[i], out[i, : known[i]]]) for i in left]
            read = np.stack(
                [
                    np.concatenate([text, likely(text, count - known[i])])
                    for i, text in zip(left, texts, strict=True)
                ]
            )
            predicted = model(torch.from_numpy(read[:, :-1]), last=count).argmax(-1).cpu().numpy()
            agreed = (predicted == read[:, -count:]).cumprod(1).sum(1)
            out[left] = predicted
            known |= {i: min(int(n) + 1, count) for i, n in zip(left, agreed, strict=True)}
    return out


def likely(text: np.ndarray, count: int) -> np.ndarray:
    """(count,): what followed the last tokens of a text where they stood last, the most of 8, 4, 2,
    1 that did; else its last token.
    """
    for width in (8, 4, 2, 1):
        if len(text) > width:
            earlier = np.lib.stride_tricks.sliding_window_view(text[:-1], width)
            found = np.flatnonzero((earlier == text[-width:]).all(1))
            if len(found):
                return np.resize(text[found[-1] + width :], count)
    return np.full(count, text[-1])
