"""Passkey retrieval: one needle in a sentence that says nothing, over and over, at many distances.

Sources: Landmark Attention, arXiv 2305.16300, and Position Interpolation, arXiv 2306.15595.
"""

from collections.abc import Sequence

import numpy as np

from extrap.data.vocabulary import Vocabulary

NOISE = b"Rain falls on the hills. Nothing is to be learned from this line. The road goes on. "


def noise(vocabulary: Vocabulary, length: int) -> np.ndarray:
    """Returns a stream of at least 2 * length tokens of the sentence that says nothing."""
    ids = vocabulary.encoder(NOISE)[0]
    return np.tile(ids, 1 + 2 * length // len(ids))


def passkey_distances(nearest: int, farthest: int, distances: int) -> list[int]:
    """Returns distances in tokens from the key to the query, spread evenly."""
    return sorted({int(k) for k in np.round(np.linspace(nearest, farthest, distances))})


def k_max(distances: Sequence[int], success: np.ndarray, share: float = 0.2) -> np.ndarray:
    """Returns the largest distance k with that share of successes at every distance up to k; 0 if
    there is none.

    distances: (d,), in any order; success: (..., d); the result is (...). A billionth is left to
    rounding.
    """
    order = np.argsort(distances)
    reached = (np.asarray(success)[..., order] >= share - 1e-9).cumprod(-1).sum(-1)
    return np.array([0, *np.asarray(distances)[order]])[reached]
