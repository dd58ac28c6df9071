"""Answers of several tokens: exactness in one forward pass, and greedy decoding where the text itself is needed."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from extrap.task import Model, batches


def _alike(sizes: Sequence, batch_tokens: int, extra: int = 0) -> Iterator[list[int]]:
    """Which sequences are read together: those of one size; sizes are tuples that begin with the length in tokens."""
    for size in sorted(set(sizes)):
        same = [i for i, other in enumerate(sizes) if other == size]
        yield from (same[rows] for rows in batches(len(same), size[0] + extra, batch_tokens))


@torch.no_grad()
def exact(model: Model, prompts: Sequence[np.ndarray], answers: Sequence[np.ndarray], batch_tokens: int) -> np.ndarray:
    """(n,) bool: does greedy decoding after the prompt begin with the answer. Both are 1-d arrays of ids, answers not empty.

    The answer is read along with the prompt, and is what greedy decoding would say where each of its tokens is the most likely one
    after those before it: one forward, the same as generation.
    """
    found = np.zeros(len(prompts), bool)
    for rows in _alike([(len(p), len(a)) for p, a in zip(prompts, answers, strict=True)], batch_tokens):
        right = np.stack([answers[i] for i in rows])
        tokens = np.concatenate([np.stack([prompts[i] for i in rows]), right[:, :-1]], axis=1)
        said = model(torch.from_numpy(tokens), last=right.shape[1]).argmax(-1)
        found[rows] = (said.cpu().numpy() == right).all(1)
    return found


@torch.no_grad()
def greedy(model: Model, prompts: Sequence[np.ndarray], count: int, batch_tokens: int) -> np.ndarray:
    """(n, count) int64: the `count` tokens that follow each prompt, the most likely one at a time, each read anew (no cache)."""
    out = np.zeros((len(prompts), count), np.int64)
    for rows in _alike([(len(p),) for p in prompts], batch_tokens, count):
        tokens = torch.from_numpy(np.stack([prompts[i] for i in rows]))
        for _ in range(count):
            tokens = torch.cat([tokens, model(tokens, last=1).argmax(-1).cpu()], dim=1)
        out[rows] = tokens[:, tokens.shape[1] - count :].numpy()
    return out
