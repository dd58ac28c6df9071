"""Whether positions leave lengths as they are: of token embeddings, of queries and keys, and of the
form that makes logits of them.

At distance n the score of basis vectors e_a, e_b is a matrix M_n (D, D); a scheme that turns has
M_n^T M_n = scale**2 I, one that lets scores fade, or adds to queries and keys, has not. nan:
attention is owned altogether and shows no queries and keys.
"""

import torch
from torch import Tensor

from extrap.audit.column import Column, below, error
from extrap.audit.subject import SHAPE, Subject, draw, place, words
from extrap.model.gpt import GPT
from extrap.model.scheme import Where

KEPT = 1e-6

COLUMNS = (
    Column(
        "norm",
        "norm",
        "largest relative change of the length of an embedding, a query or a key, and of the "
        "form of the score",
        error,
        below(KEPT),
    ),
)


@torch.no_grad()
def measure(subject: Subject) -> dict[str, float]:
    model, L = subject.drawn, SHAPE.length
    if model.scheme.uses("attend"):
        return {"norm": float("nan")}
    x = draw(1, L, SHAPE.dim)
    here = place(model, words(L)).at_layer(0, x)
    q, k = draw(2, 1, SHAPE.heads, L, SHAPE.head_dim, seed=5)
    turned = model.scheme.rotate(q, k, here)
    changes = [
        lengthened(x, model.scheme.embed(x, here)),
        *(lengthened(a, b) for a, b in zip((q, k), turned, strict=True)),
    ]
    return {"norm": max(*changes, bent(model, here))}


def lengthened(before: Tensor, after: Tensor) -> float:
    return float((after.norm(dim=-1) / before.norm(dim=-1) - 1).abs().max())


def bent(model: GPT, here: Where) -> float:
    """max |M_n^T M_n / scale**2 - I| over heads and the distances below L."""
    D, H, T = SHAPE.head_dim, SHAPE.heads, here.length
    a, b = (
        torch.eye(D, dtype=torch.float64).repeat_interleave(D, 0),
        torch.eye(D, dtype=torch.float64).repeat(D, 1),
    )
    q, k = (e[:, None, None].expand(-1, H, T, -1) for e in (a, b))
    q, k = model.scheme.rotate(q, k, here)
    m = (
        model.scheme.score(q[:, :, -1:], k, here.block(T - 1, T))
        .view(D, D, H, T)
        .permute(2, 3, 0, 1)
        / here.scale
    )
    return float((m.mT @ m - torch.eye(D, dtype=m.dtype)).abs().max())
