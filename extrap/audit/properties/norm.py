"""Whether positions keep lengths: of token embeddings, queries, keys, and of the form of the score.

At distance n the score of basis vectors e_a, e_b is a matrix M_n (D, D). A rotation has
M_n^T M_n = scale**2 I; a score that fades, or an addition to queries and keys, has not. nan: the
scheme owns attention and shows no queries and keys.
"""

from itertools import starmap

import torch
from torch import Tensor

from extrap.audit.column import Column, below, error
from extrap.audit.subject import SHAPE, Subject, draw, place, words
from extrap.model.gpt import GPT
from extrap.model.scheme import Where

KEPT = 1e-6

COLUMNS = (
    Column(
        "norm", "norm", "largest relative change of the length of an embedding, a query or a key, "
        "and of the form of the score", error, below(KEPT)
    ),
)  # fmt: skip


@torch.no_grad()
def measure(subject: Subject) -> dict[str, float]:
    model, L = subject.drawn, SHAPE.length
    if model.scheme.uses("attend"):
        return {"norm": float("nan")}
    x = draw(1, L, SHAPE.dim)
    here = place(model, words(L)).at_layer(0, x)
    q, k = draw(2, 1, SHAPE.heads, L, SHAPE.head_dim, seed=5)
    turned = model.scheme.rotate(q, k, here)
    pairs = (x, model.scheme.embed(x, here)), *zip((q, k), turned, strict=True)
    return {"norm": max(*starmap(lengthened, pairs), bent(model, here))}


def lengthened(before: Tensor, after: Tensor) -> float:
    return float((after.norm(dim=-1) / before.norm(dim=-1) - 1).abs().max())


def bent(model: GPT, here: Where) -> float:
    """max |M_n^T M_n / scale**2 - I| over heads and the distances below L."""
    D, H, T = SHAPE.head_dim, SHAPE.heads, here.length
    one = torch.eye(D, dtype=torch.float64)
    a, b = one.repeat_interleave(D, 0), one.repeat(D, 1)
    q, k = (e[:, None, None].expand(-1, H, T, -1) for e in (a, b))
    q, k = model.scheme.rotate(q, k, here)
    scores = model.scheme.score(q[:, :, -1:], k, here.block(T - 1, T)).view(D, D, H, T)
    m = scores.permute(2, 3, 0, 1) / here.scale
    return float((m.mT @ m - one).abs().max())
