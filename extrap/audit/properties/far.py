"""Past the training length: how far a scheme is defined, and whether its numbers keep their size.

growth: root mean square of the logits of the last of T tokens at distances n >= T/2, for T = 64 L
(or the last length that is defined) over that for T = 8 L, and the same for the embeddings at these
places; the greatest of all. A bias linear in n gives 8, a logarithm of n about 1.3, a function of
bounded phases 1. Hidden keys have no logit. nan: not defined that far.
"""

from math import inf, isfinite

import torch
from torch import Tensor

from extrap.audit.column import Column, below
from extrap.audit.subject import SHAPE, Subject, last_logits, layers, place, repeated, words
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange, Where

L = SHAPE.length
MULTIPLES = (4, 8, 16, 32, 64, 256, 1024)
SHORT, LONGEST = 8, 64
TEXTS = 8
BOUNDED = 1.25

COLUMNS = (
    Column(
        "defined", "defined", "largest length tried, in L, at which logits are defined and finite "
        "(1024: no end found)", lambda value: "all" if value == MULTIPLES[-1] else f"to {value} L",
        lambda value: value > 1
    ),
    Column(
        "growth", "bounded", "growth of logits and embeddings from 8 L to 64 L: 1 bounded, 1.3 "
        "like ln n, 8 like n", lambda value: f"x{value:.3g}" if value < 1e4 else f"x{value:.0e}",
        below(BOUNDED)
    ),
)  # fmt: skip


@torch.no_grad()
def measure(subject: Subject) -> dict[str, float]:
    model = subject.drawn
    most = defined(model)
    size = growth(model, min(most, LONGEST) * L) if most >= 16 else float("nan")
    return {"defined": most, "growth": size}


def defined(model: GPT) -> int:
    """Returns the largest multiple of L in range; 1 if logits at 4 L are not finite."""
    most = 1
    for m in MULTIPLES:
        try:
            t = model.scheme.positions(torch.arange(m * L, dtype=torch.float64))
        except OutOfRange:
            break
        if float(t.max()) >= model.scheme.limit:
            break
        if m == MULTIPLES[0] and not model(words(m * L), last=L).isfinite().all():
            break
        most = m
    return most


def growth(model: GPT, T: int) -> float:
    """Size at T tokens over size at 8 L, the greatest of embeddings and logits of each layer."""
    near, far = sizes(model, SHORT * L), sizes(model, T)
    return max(b / a for a, b in zip(near, far, strict=True))


def sizes(model: GPT, T: int) -> list[float]:
    """Root mean squares over the far half of texts of one repeated token each."""
    tokens, x = repeated(TEXTS, T)
    at = place(model, tokens)
    found = [size(model.scheme.embed(x, at.at_layer(0, x)).movedim(1, -1))]
    return found + [size(read(model, *each)) for each in layers(model, x, at)]


def read(model: GPT, q: Tensor, k: Tensor, v: Tensor, here: Where) -> Tensor:
    """(..., T): logits of the last query by distance; outputs if the scheme owns attention."""
    if model.scheme.uses("attend", layer=here.layer):
        return model.scheme.attend(q, k, v, here).movedim(2, -1)
    return last_logits(model.scheme, q, k, here).flip(-1)


def size(s: Tensor) -> float:
    """Root mean square of the far half of the last axis; 1 if all of it is hidden, inf for nan."""
    far = s[..., s.shape[-1] // 2 :]
    far = far[far != -torch.inf]
    value = float(far.square().mean().sqrt()) if len(far) else 1.0
    return value if isfinite(value) else inf
