"""NBCE, naive Bayes over contexts that the model reads apart from each other.
https://kexue.fm/archives/9617, arXiv 2403.17552 (a variant).

log p(x | S_1 .. S_n, T) = (beta + 1) P_k[log p(x | S_k, T)] - beta log p(x | T) + const

The method cuts text from the back: L / 2 - 1 tokens T that all contexts share, contexts S_k of L /
2 tokens each, with BOS before each of them and before T alone. P takes the context of least
entropy, or the mean over contexts: with beta = n - 1 that is naive Bayes. Contexts begin at the end
of the text, so that earlier predictions change as the text grows.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Literal

import torch
from torch import Tensor

from extrap.extensions.base import Extension, Reader
from extrap.model.gpt import GPT
from extrap.model.scheme import wide
from extrap.utils.bounds import Fraction, NotNegative

LOWEST = -100.0  # below it a logarithm of a probability counts as log 0


class NBCE(Extension):
    """Naive Bayes over contexts: the model reads the contexts apart and joins their predictions.

    Args:
        pool: P above, entropy or mean
        beta: weight against the answer without context, null stands for n - 1
        top_p: the entropy counts the likeliest tokens, which hold this much probability
        stickiness: nats that lower the entropy of the context that won at the token before
        window: tokens of a context; null stands for L / 2; T has the rest of L but BOS

    Losses are over whole distributions: nothing filters them.

    One reading serves L - window predictions, and the first follows S_k directly; earlier
    predictions have readings of their own, of the text up to there. Up to L tokens the model reads
    as it is. Memory is linear in T; L - window predictions cost T / L forwards of L tokens. Works
    with every scheme and changes each: the first predictions of a reading follow the cut.
    """

    def __init__(
        self,
        pool: Literal["entropy", "mean"] = "entropy",
        beta: NotNegative | None = 0.25,
        top_p: Fraction = 0.95,
        stickiness: NotNegative = 0.1,
        window: int | None = None,
    ):
        self.pool = pool
        self.beta = beta
        self.window = window
        self.top_p = top_p
        self.stickiness = stickiness

    def __call__(self, model: GPT) -> Reader:
        L = model.scheme.shape.length
        window = L // 2 if self.window is None else self.window
        if not 1 <= window < L:
            raise self.refuse(
                model.scheme,
                f"window={window}: must lie between 1 and {L - 1}, the training length without BOS",
            )

        def read(tokens: Tensor, last: int | None = None) -> Tensor:
            T = tokens.shape[1]
            last = T if last is None else last
            parts = []
            predictions = L - window
            while last > 0 and T > L:
                end = self._end(model, tokens[:, :T], window, predictions)
                parts.append(end[:, -last:])
                T -= predictions
                last -= predictions
            if last > 0:
                parts.append(model(tokens[:, :T], last=last))
            return torch.cat(parts[::-1], 1)

        return read

    def _end(self, model: GPT, tokens: Tensor, window: int, predictions: int) -> Tensor:
        """Returns log p (B, predictions, V) of the last predictions of a text (B, T)."""
        cut = tokens.shape[1] - predictions + 1
        bos = tokens[:, :1]
        shared = tokens[:, cut:]
        contexts = tokens[:, 1:cut].flip(1).split(window, 1)

        def answers(contexts: Sequence[Tensor]) -> Tensor:
            """Returns log p (n, B, predictions, V) for contexts of one length."""
            whole = [torch.cat([bos, context.flip(1), shared], 1) for context in contexts]
            logits = model(torch.cat(whole), last=predictions)
            log_p = wide(logits).log_softmax(-1)
            return log_p.unflatten(0, (len(whole), -1))

        groups = groupby(contexts, lambda context: context.shape[1])
        rows = torch.cat([answers(list(group)) for _, group in groups])
        nothing = bos[:, :0]
        alone = answers([nothing])[0]
        pooled = rows.mean(0) if self.pool == "mean" else self._surest(rows)
        beta = len(rows) - 1 if self.beta is None else self.beta
        return merged(pooled, alone, beta)

    def _surest(self, rows: Tensor) -> Tensor:
        """Returns the row of least entropy of each prediction, (n, B, P, V) -> (B, P, V)."""
        h = entropy(rows, self.top_p)
        _, B, P = h.shape
        bonus = h.new_full((1, B), -self.stickiness)
        winners = []
        for t in range(P):
            of_contexts = h[:, :, t]
            if winners:
                of_contexts.scatter_add_(0, winners[-1][None], bonus)
            winners.append(of_contexts.argmin(0))
        chosen = torch.stack(winners, 1)[None, :, :, None]
        return rows.take_along_dim(chosen, 0)[0]


def entropy(log_p: Tensor, top_p: float) -> Tensor:
    """Returns the entropy in nats of the likeliest tokens that hold top_p: (..., V) -> (...)."""
    log_p = log_p.sort(-1).values
    p = log_p.exp()
    terms = p * log_p.clamp(min=LOWEST)
    unlikely = p.cumsum(-1) <= 1 - top_p
    return -terms.masked_fill(unlikely, 0).sum(-1)


def merged(pooled: Tensor, alone: Tensor, beta: float) -> Tensor:
    """Returns (beta + 1) log p pooled - beta log p alone, normalised (..., V); pooled itself for
    tokens whose probability alone is near 0.
    """
    contrast = (1 + beta) * pooled - beta * alone
    return torch.where(alone > LOWEST, contrast, pooled).log_softmax(-1)
