"""What a scheme answers to, found out by asking it: does its attention know distances, and does an extension change it.

Asked are a copy with random parameters and random queries, keys and values, so that the answer is one about the scheme and not
about what it has learned so far.
"""

from copy import deepcopy

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Where, attend_rows

SAME = 1e-9
SHIFT = 977.0


def check_distances(scheme: Scheme) -> None:
    """Raises ValueError unless attention is a function of distances, and these count tokens."""
    if not counts_tokens(scheme):
        raise ValueError("its coordinates do not count tokens")
    if not knows_distances(scheme):
        raise ValueError("its attention is no function of the distance between tokens")


def counts_tokens(scheme: Scheme) -> bool:
    """Whether the coordinates of L tokens lie below L: randomised ones do not, interpolated ones do."""
    L = scheme.shape.length
    return float(deepcopy(scheme).eval().positions(torch.arange(L, dtype=torch.float64)).max()) < L


def knows_distances(scheme: Scheme) -> bool:
    """Whether attention changes when coordinates are spread, and does not when they are shifted."""
    t = torch.arange(scheme.shape.length, dtype=torch.float64)
    return _same(scheme, t, scheme, t + SHIFT) and not _same(scheme, t, scheme, 2 * t)


def check_acts(plain: Scheme, extended: Scheme) -> None:
    """Raises ValueError if at 4 L tokens attention is what it was without the extension."""
    t = torch.arange(4 * plain.shape.length, dtype=torch.float64)
    if _same(plain, t, extended, t):
        raise ValueError("every distance it tells apart would stay as it is")


def _same(one: Scheme, t: Tensor, other: Scheme, u: Tensor) -> bool:
    return torch.allclose(response(one, t), response(other, u), rtol=0, atol=SAME)


@torch.no_grad()
def response(scheme: Scheme, t: Tensor) -> Tensor:
    """(layers, H, D), float64: what the last of the tokens at coordinates t (T,) reads in each layer; memory is linear in T.

    Not for schemes that own attention.
    """
    g, T, shape = torch.Generator().manual_seed(0), len(t), scheme.shape
    scheme = deepcopy(scheme).cpu().double().eval()
    for p in scheme.parameters():
        p.copy_(torch.randn(p.shape, generator=g, dtype=p.dtype))
    q, k, v = torch.randn(3, 1, shape.heads, T, shape.head_dim, generator=g, dtype=torch.float64)
    x, tokens = torch.randn(1, T, shape.dim, generator=g, dtype=torch.float64), torch.randint(shape.vocab, (1, T), generator=g)
    at = Where.whole(t, scheme.scale, tokens=tokens, sees=scheme.sees if scheme.uses("sees") else None)
    read = []
    for layer in range(shape.layers):
        here = at.at_layer(layer, x)
        turned_q, turned_k = scheme.rotate(q, k, here)
        read.append(attend_rows(scheme, turned_q[:, :, -1:], turned_k, v, here.block(T - 1, T))[0, :, 0])
    return torch.stack(read)
