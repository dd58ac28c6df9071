"""Probes of a scheme: does its attention know distances, is it a function of a real coordinate?

A probe uses a copy with random parameters and random queries, keys and values: its answer is about
the scheme and not about trained weights.
"""

from collections.abc import Iterator
from copy import deepcopy

import torch
from torch import Tensor, nn

from extrap.model.scheme import Scheme, Where, attend_rows, place

SAME = 1e-9
SHIFT = 977.0
NUMBERS = 2**29
"""Numbers in queries, keys and values of a probe, at most: 4 GiB, enough for 7 B parameters at L =
8192."""


def counts_tokens(scheme: Scheme) -> bool:
    """True if L tokens have coordinates below L; randomised ones do not."""
    L = scheme.shape.length
    return float(deepcopy(scheme).eval().positions(torch.arange(L, dtype=torch.float64)).max()) < L


def knows_distances(scheme: Scheme) -> bool:
    """True if attention changes with the spread of coordinates and not with a shift of all; asked
    at 256 coordinates or more, spread over the training length.
    """
    t = token_coordinates(min(scheme.shape.length, room(scheme)))
    t = t[:: max(1, len(t) // 256)]
    return same(scheme, t, scheme, t + SHIFT) and not same(scheme, t, scheme, 2 * t)


def reads_coordinates(part: Scheme) -> bool:
    """True if a single part is a function of a real coordinate, on embeddings, queries, keys,
    values or content logits.

    Tables are not: between whole coordinates they are constant or a straight line, which bends at
    the next whole one. Nor are biases without content.
    """
    before, half, after = (_acted(part, u) for u in (1.25, 1.5, 1.75))
    whole, beyond = (_acted(part, u) for u in (2.0, 2.25))
    straight = torch.allclose(before + after, 2 * half, rtol=0, atol=SAME)
    bends = not torch.allclose(after + beyond, 2 * whole, rtol=0, atol=SAME)
    changes = not torch.allclose(before, after, rtol=0, atol=SAME)
    return changes and not (straight and bends)


def moves_with_coordinates(part: Scheme) -> bool:
    """True if a part depends on coordinates by more than a bias of the distance."""
    return not torch.allclose(_acted(part, 1.0), _acted(part, 3.0), rtol=0, atol=SAME)


@torch.no_grad()
def _acted(part: Scheme, u: float) -> Tensor:
    """Returns all outputs of a part for two tokens at coordinates 0 and u, in one row."""
    g = torch.Generator().manual_seed(0)
    part = redrawn(part, g)
    (q, k, v), x, tokens = inputs(part, 2, g)
    t = torch.tensor([0, u], dtype=torch.float64)
    here = Where.whole(t, part.scale, tokens=tokens).at_layer(0, x)
    turned = part.rotate(q, k, here)
    done = [part.embed(x, here), *turned, part.score(*turned, here)]
    done.append(part.mix(torch.ones(1, q.shape[1], 2, 2, dtype=q.dtype), v, here))
    b, without = (part.bias(y, z, here) for y, z in (turned, (0 * turned[0], 0 * turned[1])))
    if b is not None and without is not None:
        done.append(b - without)
    return torch.cat([z.flatten() for z in done])


def same(one: Scheme, t: Tensor, other: Scheme, u: Tensor, embedded: bool = False) -> bool:
    """True if two schemes respond alike at coordinates t and u in every layer."""
    layers = zip(responses(one, t, embedded), responses(other, u, embedded), strict=True)
    return all(torch.allclose(a, b, rtol=0, atol=SAME) for a, b in layers)


def responses(scheme: Scheme, t: Tensor, embedded: bool = False) -> Iterator[Tensor]:
    """Yields, layer by layer, the attention output of the last token at coordinates t (T,): (H,
    rows, D), float64; memory is linear in T.

    embedded: adds to queries, keys and values what the scheme adds to tokens, returns a few earlier
    rows as well, and one more channel that tells which keys a row sees.
    """
    g, T, shape = torch.Generator().manual_seed(0), len(t), scheme.shape
    scheme = redrawn(scheme, g)
    (q, k, v), x, tokens = inputs(scheme, T, g)
    at = place(scheme, t, tokens=tokens)
    rows = [T // 2, 3 * T // 4, T - 1] if embedded else [T - 1]
    for layer in range(shape.layers):
        # no `yield` inside no_grad: it would stay on if the caller stops early
        yield _read(scheme, (q, k, v), x, at.at_layer(layer, x), rows, embedded)


@torch.no_grad()
def _read(
    scheme: Scheme,
    qkv: tuple[Tensor, Tensor, Tensor],
    x: Tensor,
    at: Where,
    rows: list[int],
    embedded: bool,
) -> Tensor:
    """Returns the attention output of these rows in one layer: (H, rows, D)."""
    q, k, v = qkv
    if embedded and scheme.uses("embed", layer=at.layer):
        added = _added(scheme, x, at)
        q, k, v = q + added, k + added, v + added
    if scheme.uses("attend", layer=at.layer):
        return scheme.attend(q, k, v, at)[0, :, rows]
    q, k = scheme.rotate(q, k, at)
    of_rows = []
    for i in rows:
        here, keys = at.block(i, i + 1), slice(i + 1)
        o = attend_rows(scheme, q[:, :, i : i + 1], k[:, :, keys], v[:, :, keys], here)[0]
        if embedded:
            seen = (here.visible * (here.j + 1.0).sqrt()).sum()
            o = torch.cat([o, seen.expand(len(o), 1, 1)], -1)
        of_rows.append(o)
    return torch.cat(of_rows, 1)


def _added(scheme: Scheme, x: Tensor, at: Where) -> Tensor:
    """(1, 1, T, 1): the mean of what the scheme adds to each token, unevenly weighted."""
    added = scheme.embed(x, at) - x
    return (added * torch.arange(1, x.shape[-1] + 1)).mean(-1)[:, None, :, None]


def redrawn(scheme: Scheme, generator: torch.Generator) -> Scheme:
    """Returns a copy in float64 with parameters from N(0, 1)."""
    drawn = {
        id(p): nn.Parameter(torch.randn(p.shape, generator=generator, dtype=torch.float64))
        for p in scheme.parameters()
    }
    return deepcopy(scheme, drawn).cpu().double().eval()


def inputs(scheme: Scheme, T: int, g: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Draws q, k, v (3, 1, H, T, D), x (1, T, C) and tokens (1, T)."""
    shape = scheme.shape
    qkv = torch.randn(3, 1, shape.heads, T, shape.head_dim, generator=g, dtype=torch.float64)
    x = torch.randn(1, T, shape.dim, generator=g, dtype=torch.float64)
    return qkv, x, torch.randint(shape.vocab, (1, T), generator=g)


def token_coordinates(n: int) -> Tensor:
    """Returns 0, 1, ... n - 1 (n,), float64."""
    return torch.arange(n, dtype=torch.float64)


def room(scheme: Scheme) -> int:
    """Returns how many tokens a probe has memory for."""
    return max(2, NUMBERS // (3 * scheme.shape.heads * scheme.shape.head_dim))
