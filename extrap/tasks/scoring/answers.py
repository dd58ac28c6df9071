"""Answers of a model: the most likely tokens of its logits, and whether they are right.

Logits without a finite maximum (nan, an overflow) name no token: NONE. An answer with such a token
is neither right nor wrong but nan, and a row of such answers has the status `diverged`, as a loss
that is no finite number has.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

NONE = -1
"""In place of an id."""


def finite(logits: Tensor) -> Tensor:
    """Returns whether logits (..., vocab) name a token: (...)."""
    return logits.amax(-1).isfinite()


def likely(logits: Tensor) -> Tensor:
    """Returns the most likely id, or NONE: (..., vocab) -> (...). Attention (..., keys) names a
    key in the same way.
    """
    best = logits.argmax(-1)
    return best.where(finite(logits), NONE)


def best_of(logits: Tensor, ids: Sequence[int], most: int) -> Tensor:
    """Returns the most likely of these ids, or NONE: (..., vocab) -> (..., most)."""
    if isinstance(ids, range):
        of_ids = logits[..., ids.start : ids.stop]
        named = of_ids.topk(most, -1).indices + ids.start
    else:
        some = torch.tensor(ids, device=logits.device)
        of_ids = logits[..., some]
        named = some[of_ids.topk(most, -1).indices]
    known = finite(logits)[..., None]
    return named.where(known, NONE)


def right(named: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Returns 1 where the ids are equal, 0 where not, nan where no id is named; the arguments
    broadcast. The least over tokens says whether all are right, the greatest whether any is.
    """
    unknown = named == NONE
    return np.where(unknown, np.nan, named == wanted)


def any_of(named: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Returns 1 where tokens (n, w) are one of values (n, k, w), 0 where not, nan where a token
    names no id: (n,).
    """
    equal = (named[:, None] == values).all(2)
    unknown = (named == NONE).any(1)
    return np.where(unknown, np.nan, equal.any(1))


def hits(logits: Tensor, answers: np.ndarray) -> np.ndarray:
    """Returns 1 where the most likely id of logits (..., vocab) is the answer (...), 0 where not,
    nan without a most likely id.
    """
    named = likely(logits).cpu().numpy()
    return right(named, np.asarray(answers))
