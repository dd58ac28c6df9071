"""Probes of a scheme: does its attention know distances, is it a function of a real coordinate,
does an extension change anything?

A probe uses a copy with random parameters and random queries, keys and values: its answer is about
the scheme and not about trained weights.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from extrap.extensions.layers import late_rows
from extrap.model.parts import parts
from extrap.model.scheme import OutOfRange, Scheme, Where, attend_rows, even_spacing, place
from extrap.model.spectrum import draws_positions
from extrap.utils.errors import UserError
from extrap.utils.plugins import defined_at

SAME = 1e-9
SHIFT = 977.0
LATER = 7
"""Tokens by which a probe moves the beginning of a text."""
NUMBERS = 2**29
"""Numbers in queries, keys and values of a probe, at most: 4 GiB, enough for 7 B parameters at L =
8192."""
SHORT = 2**8
"""Tokens in which most methods show already; the long text takes a minute at L = 32768."""
MOST = 2**15
"""Tokens of a probe, at most, unless 2 L are more: a probe takes seconds, not minutes."""


def check_distances(scheme: Scheme) -> None:
    """Raises ValueError unless attention depends on distances, and these count tokens: L tokens
    have even coordinates below L that follow the given ones, and attention changes with the spread
    of coordinates and not with a shift of all, at 256 coordinates or more.
    """
    L = scheme.shape.length
    reading = deepcopy(scheme).eval()
    t = torch.arange(L, dtype=torch.float64)
    places = reading.positions(t)
    uneven = even_spacing(places) is None or draws_positions(reading)
    if uneven or float(places.max()) >= L:
        raise ValueError("its coordinates do not count tokens")
    t = t[: room(scheme)]
    t = t[:: max(1, len(t) // 256)]
    if not same(scheme, t, scheme, t + SHIFT) or same(scheme, t, scheme, 2 * t):
        raise ValueError("its attention is no function of the distance between tokens")


def check_changes(plain: Scheme, extended: Scheme) -> None:
    """Raises ValueError if the extension changes nothing of attention in a short text and at 4 L
    tokens; or within L, if neither scheme is defined at 4 L.

    A mask that hides other keys counts as a change, whatever weight random parameters give those
    keys. If memory does not let a probe read past L, the extension passes.
    """
    L = plain.shape.length
    t = torch.arange(min(_long(L), room(plain)), dtype=torch.float64)
    if len(t) < 2 * L:
        return
    defined = [_defined(scheme, t) for scheme in (plain, extended)]
    if defined[0] != defined[1]:
        return
    t = t if all(defined) else t[:L]
    texts = [t[:SHORT], t] if len(t) > SHORT else [t]
    for text in texts:
        own = deepcopy(plain).eval().positions(text)
        other = deepcopy(extended).eval().positions(text)
        if own.shape != other.shape:
            at = "".join(defined_at(part.positions) for part in parts(extended))
            problem = f"positions{at} returned {tuple(other.shape)} for {len(text)} tokens"
            raise UserError("extension", problem=problem, remedy="return a coordinate of each")
        if not same(plain, own, extended, other, embedded=True):
            return
    raise ValueError("it changes no logit there")


def _defined(scheme: Scheme, t: Tensor) -> bool:
    try:
        places = deepcopy(scheme).eval().positions(t)
    except OutOfRange:
        return False
    return float(places.max()) < scheme.limit


def _long(L: int) -> int:
    """Returns the tokens of a long text: 4 L if that is not too many."""
    return min(4 * L, max(MOST, 2 * L))


def check_reads_on(scheme: Scheme, kept: int) -> None:
    """Raises ValueError if the last `kept` tokens are all that the model reads: every layer has a
    mask, all layers together look less than `kept` tokens back, masks and temperatures do not
    depend on the beginning of the text, and only distances between coordinates matter.
    """
    layers = range(scheme.shape.layers)
    L = scheme.shape.length
    uses = scheme.uses
    masked = [n for n in layers if uses("sees", layer=n) and not uses("attend", layer=n)]
    late = [late_rows(scheme, layer, _long(L)) for layer in masked]
    back = sum(int(torch.where(at.visible, at.back, 0).max()) for at in late)
    if len(late) < len(layers) or back >= kept or not all(_moves_along(scheme, at) for at in late):
        return
    t = torch.arange(min(L, room(scheme)), dtype=torch.float64)
    if same(scheme, t, scheme, t + SHIFT, embedded=True):
        raise ValueError(f"it changes no logit: no layer reads past the last {kept} tokens")


def _moves_along(scheme: Scheme, late: Where) -> bool:
    """True if mask and temperature stay in a text that begins later; chunks do not."""
    moved = replace(late, i=late.i - LATER, q=late.q - LATER, memo={})
    if not torch.equal(late.visible[:, LATER:], moved.visible[:, :-LATER]):
        return False
    here = scheme.temperature(late)
    there = scheme.temperature(moved)
    if here is None or there is None:
        return True
    return torch.allclose(here, there, rtol=0, atol=SAME)


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
    part, (q, k, v), x, tokens = drawn(part, 2)
    t = torch.tensor([0, u], dtype=torch.float64)
    here = Where.whole(t, part.scale, tokens=tokens).at_layer(0, x)
    turned = part.rotate(q, k, here)
    done = [part.embed(x, here), *turned, part.score(*turned, here)]
    ones = torch.ones(1, q.shape[1], 2, 2, dtype=q.dtype)
    done.append(part.mix(ones, v, here))
    b = part.bias(*turned, here)
    without = part.bias(0 * turned[0], 0 * turned[1], here)
    if b is not None and without is not None:
        done.append(b - without)
    return torch.cat([z.flatten() for z in done])


def same(one: Scheme, t: Tensor, other: Scheme, u: Tensor, embedded: bool = False) -> bool:
    """True if two schemes respond alike at coordinates t and u in every layer."""
    layers = zip(responses(one, t, embedded), responses(other, u, embedded), strict=True)
    return all(torch.allclose(a, b, rtol=0, atol=SAME) for a, b in layers)


def responses(scheme: Scheme, t: Tensor, embedded: bool = False) -> Iterator[Tensor]:
    """Yields, layer by layer, the attention output of the last token and two earlier ones at
    coordinates t (T,), float64: (H, rows, D), and one more channel that tells which keys a row
    sees. Memory is linear in T.

    embedded: adds the codes that the scheme adds to tokens to queries, keys and values, too.
    """
    scheme, qkv, x, tokens = drawn(scheme, len(t))
    at = place(scheme, t, tokens=tokens)
    for layer in range(scheme.shape.layers):
        # no `yield` inside no_grad: it would stay on if the caller stops early
        yield _read(scheme, qkv, x, at.at_layer(layer, x), embedded)


@torch.no_grad()
def _read(scheme: Scheme, qkv: Tensor, x: Tensor, at: Where, embedded: bool) -> Tensor:
    rows = [at.length // 2, 3 * at.length // 4, at.length - 1]
    if embedded and scheme.uses("embed", layer=at.layer):
        codes = (scheme.embed(x, at) - x) * torch.arange(1, x.shape[-1] + 1)
        qkv = qkv + codes.mean(-1)[:, None, :, None]  # one number per token, (1, 1, T, 1)
    q, k, v = qkv
    if scheme.uses("attend", layer=at.layer):
        return scheme.attend(q, k, v, at)[0, :, rows]
    q, k = scheme.rotate(q, k, at)
    of_rows = []
    for i in rows:
        here = at.block(i, i + 1)
        keys = slice(i + 1)
        row = q[:, :, i : i + 1]
        o = attend_rows(scheme, row, k[:, :, keys], v[:, :, keys], here)[0]
        seen = (here.visible * (here.j + 1.0).sqrt()).sum()
        of_rows.append(torch.cat([o, seen.expand(len(o), 1, 1)], -1))
    return torch.cat(of_rows, 1)


def drawn(scheme: Scheme, T: int) -> tuple[Scheme, Tensor, Tensor, Tensor]:
    """Returns a copy in float64 with parameters from N(0, 1); and for it q, k, v (3, 1, H, T, D),
    x (1, T, C) and tokens (1, T).
    """
    shape = scheme.shape
    g = torch.Generator().manual_seed(0)
    normal = partial(torch.randn, generator=g, dtype=torch.float64)
    parameters = {id(p): nn.Parameter(normal(p.shape)) for p in scheme.parameters()}
    qkv = normal(3, 1, shape.heads, T, shape.head_dim)
    x = normal(1, T, shape.dim)
    tokens = torch.randint(shape.vocab, (1, T), generator=g)
    return deepcopy(scheme, parameters).cpu().double().eval(), qkv, x, tokens


def room(scheme: Scheme) -> int:
    """Returns how many tokens a probe has memory for."""
    return max(2, NUMBERS // (3 * scheme.shape.heads * scheme.shape.head_dim))
