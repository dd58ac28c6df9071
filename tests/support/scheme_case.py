"""Random queries, keys, values and texts for one scheme, a model around it, and its attention read
back as weights.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme, Shape, Where

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


def qkv(
    shape: Shape, T: int, seed: int = 0, batch: int = 2, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor, Tensor]:
    """Three (batch, H, T, D), standard normal."""
    g = torch.Generator().manual_seed(seed)
    return tuple(
        torch.randn(batch, shape.heads, T, shape.head_dim, generator=g, dtype=dtype)
        for _ in range(3)
    )


def hidden(shape: Shape, T: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """What a layer is given: (2, T, C), standard normal."""
    return torch.randn(2, T, shape.dim, generator=torch.Generator().manual_seed(1)).to(dtype)


def text(T: int, batch: int = 2) -> Tensor:
    return torch.randint(50, (batch, T), generator=torch.Generator().manual_seed(3))


def around(scheme: Scheme) -> GPT:
    """A small GPT in float64 carrying the scheme; its weights are always the same."""
    shape = scheme.shape
    torch.manual_seed(0)
    return GPT(scheme, shape.vocab, Decoder(shape.dim, shape.layers, shape.heads)).double().eval()


def at(scheme: Scheme, t: int | Tensor, layer: int = 0, x: Tensor | None = None) -> Where:
    """The place of a whole forward at coordinates t, or at 0 .. t - 1."""
    t = torch.arange(t, dtype=torch.float64) if isinstance(t, int) else t
    return Where.whole(t, scheme.scale, layer=layer, x=x)


def moved(scheme: Scheme, spread: float = 0.5) -> Scheme:
    """The scheme in float64 with every parameter drawn anew around its initial mean: nothing is
    zero or one by chance.
    """
    g = torch.Generator().manual_seed(7)
    for p in scheme.double().parameters():
        p.data = p.data.mean() + spread * torch.randn(p.shape, generator=g, dtype=p.dtype)
    return scheme


def scores(scheme: Scheme, q: Tensor, k: Tensor, place: Where) -> Tensor:
    return scheme.score(*scheme.rotate(q, k, place), place)


def in_blocks(scheme: Scheme, q: Tensor, k: Tensor, place: Where, rows: int) -> Tensor:
    """(B, H, T, T) scores of plain queries and keys, so many rows at once; 0 where none is made."""
    out = q.new_zeros(*q.shape[:3], k.shape[2])
    for start in range(0, q.shape[2], rows):
        here = place.block(start, min(start + rows, q.shape[2]))
        made = scheme.score(q[:, :, here.i], k[:, :, here.j], here)
        out[:, :, start : start + rows, : made.shape[-1]] = made
    return out


def causal(logits: Tensor) -> Tensor:
    """Weights of logits (..., T, T) of which a query sees no later key."""
    return logits.masked_fill(~lower(logits.shape[-1]), -torch.inf).softmax(-1)


def weights(scheme: Scheme, q: Tensor, k: Tensor, place: Where) -> Tensor:
    """(B, H, T, T): the weight of each value, read off by mixing unit vectors; right for every mix
    that adds no value of its own.
    """
    return scheme.attend(q, k, torch.eye(q.shape[2], dtype=q.dtype).expand(*q.shape[:3], -1), place)


def pairs(T: int, entry: Callable[[int, int, int], float | Tensor], heads: int = 2) -> Tensor:
    """(H, T, T, ...) of entry(h, i, j), a formula of a paper for head h, query i and key j, written
    as a loop; 0 at later keys.
    """
    one = torch.as_tensor(entry(0, 0, 0), dtype=torch.float64)
    out = one.new_zeros(heads, T, T, *one.shape)
    for h in range(heads):
        for i in range(T):
            for j in range(i + 1):
                out[h, i, j] = entry(h, i, j)
    return out


def mixed(a: Tensor, value: Callable[[int, int, int], Tensor]) -> Tensor:
    """(H, T, D): the sum over keys j of a[h, i, j] value(h, i, j)."""
    return (a[..., None] * pairs(a.shape[1], value, len(a))).sum(2)


def close(a: Tensor, b: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(a, b, atol=tolerance, rtol=tolerance)


def softplus(x: float) -> float:
    return math.log1p(math.exp(x))


def lower(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril()
