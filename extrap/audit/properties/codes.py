"""Whether one matrix M_k shifts the codes at the input: p(i + k) = M_k p(i) for all i.

p(i) is the embedding of zeros at position i, or of ones if that says nothing (positions that
multiply). M_k minimises the error over all i with i + k < L, for k = 1 and 7. Sinusoids: M_k is a
rotation, arXiv 1706.03762.
"""

import torch
from torch import Tensor

from extrap.audit.column import Column, below, error
from extrap.audit.subject import SHAPE, Subject, place
from extrap.model.gpt import GPT

STEPS, LINEAR = (1, 7), 1e-6

COLUMNS = (
    Column(
        "linear_codes", "linear", "codes p(i) at the input: relative residual of the best M_k with "
        "p(i+k) = M_k p(i), k = 1 and 7", error, below(LINEAR)
    ),
)  # fmt: skip


def measure(subject: Subject) -> dict[str, float]:
    p = codes(subject.drawn)
    return {"linear_codes": float("nan") if p is None else max(residual(p, k) for k in STEPS)}


@torch.no_grad()
def codes(model: GPT) -> Tensor | None:
    """Returns p(i) (L, C), or None if the input says nothing of positions."""
    L = SHAPE.length
    at = place(model, torch.zeros(1, L, dtype=torch.long)).at_layer(0, torch.zeros(1, L, SHAPE.dim))
    for value in (0.0, 1.0):
        p = model.scheme.embed(torch.full((1, L, SHAPE.dim), value, dtype=torch.float64), at)[0]
        if (p != p[:1]).any():
            return p
    return None


def residual(p: Tensor, k: int) -> float:
    """|| p(i + k) - M p(i) || / || p(i + k) || for the best M, over i."""
    now, later = p[:-k], p[k:]
    best = torch.linalg.lstsq(now, later, driver="gelsd").solution
    return float((later - now @ best).norm() / later.norm())
