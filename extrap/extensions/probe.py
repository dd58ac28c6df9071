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
    step = max(1, len(t) // 256)
    t = t[::step]
    shifted = t + SHIFT
    spread = 2 * t
    if not same(scheme, t, scheme, shifted) or same(scheme, t, scheme, spread):
        raise ValueError("its attention is no function of the distance between tokens")


def check_changes(plain: Scheme, extended: Scheme) -> None:
    """Raises ValueError if the extension changes nothing of attention in a short text and at 4 L
    tokens; or within L, if neither scheme is defined at 4 L.

    A mask that hides other keys counts as a change, whatever weight random parameters give those
    keys. If memory does not let a probe read past L, the extension passes.
    """
    L = plain.shape.length
    tokens = min(_long(L), room(plain))
    t = torch.arange(tokens, dtype=torch.float64)
    if tokens < 2 * L:
        return
    defined = _defined(plain, t)
    if defined != _defined(extended, t):
        return
    if not defined:
        t = t[:L]
    texts = [t]
    if len(t) > SHORT:
        texts.insert(0, t[:SHORT])
    for text in texts:
        own = deepcopy(plain).eval().positions(text)
        other = deepcopy(extended).eval().positions(text)
        if own.shape != other.shape:
            places = [defined_at(part.positions) for part in parts(extended)]
            at = "".join(places)
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
    L = scheme.shape.length
    looks_back = 0
    every_late = []
    for layer in range(scheme.shape.layers):
        masked = scheme.uses("sees", layer=layer)
        if not masked or scheme.uses("attend", layer=layer):
            return
        late = late_rows(scheme, layer, _long(L))
        seen = torch.where(late.visible, late.back, 0)
        looks_back += int(seen.max())
        every_late.append(late)
    if looks_back >= kept:
        return
    if not all(_moves_along(scheme, late) for late in every_late):
        return
    tokens = min(L, room(scheme))
    t = torch.arange(tokens, dtype=torch.float64)
    shifted = t + SHIFT
    if same(scheme, t, scheme, shifted, embedded=True):
        raise ValueError(f"it changes no logit: no layer reads past the last {kept} tokens")


def _moves_along(scheme: Scheme, late: Where) -> bool:
    """True if mask and temperature stay in a text that begins later; chunks do not."""
    i = late.i - LATER
    q = late.q - LATER
    moved = replace(late, i=i, q=q, memo={})
    if not torch.equal(late.visible[:, LATER:], moved.visible[:, :-LATER]):
        return False
    here = scheme.temperature(late)
    there = scheme.temperature(moved)
    if here is None or there is None:
        return True
    return _close(here, there)


def reads_coordinates(part: Scheme) -> bool:
    """True if a single part is a function of a real coordinate, on embeddings, queries, keys,
    values or content logits.

    Tables are not: between whole coordinates they are constant or a straight line, which bends at
    the next whole one. Nor are biases without content.
    """
    before = _acted(part, 1.25)
    half = _acted(part, 1.5)
    after = _acted(part, 1.75)
    whole = _acted(part, 2.0)
    beyond = _acted(part, 2.25)
    straight = _close(before + after, 2 * half)
    bends = not _close(after + beyond, 2 * whole)
    changes = not _close(before, after)
    return changes and not (straight and bends)


def moves_with_coordinates(part: Scheme) -> bool:
    """True if a part depends on coordinates by more than a bias of the distance."""
    near = _acted(part, 1.0)
    far = _acted(part, 3.0)
    return not _close(near, far)


def _close(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a, b, rtol=0, atol=SAME)


@torch.no_grad()
def _acted(part: Scheme, u: float) -> Tensor:
    """Returns all outputs of a part for two tokens at coordinates 0 and u, in one row."""
    part, (q, k, v), x, tokens = drawn(part, 2)
    t = torch.tensor([0, u], dtype=torch.float64)
    here = Where.whole(t, part.scale, tokens=tokens).at_layer(0, x)
    turned_q, turned_k = part.rotate(q, k, here)
    embedded = part.embed(x, here)
    scores = part.score(turned_q, turned_k, here)
    ones = torch.ones(1, q.shape[1], 2, 2, dtype=q.dtype)
    mixed = part.mix(ones, v, here)
    done = [embedded, turned_q, turned_k, scores, mixed]
    b = part.bias(turned_q, turned_k, here)
    without = part.bias(0 * turned_q, 0 * turned_k, here)
    if b is not None and without is not None:
        done.append(b - without)
    return torch.cat([z.flatten() for z in done])


def same(one: Scheme, t: Tensor, other: Scheme, u: Tensor, embedded: bool = False) -> bool:
    """True if two schemes respond alike at coordinates t and u in every layer."""
    of_one = responses(one, t, embedded)
    of_other = responses(other, u, embedded)
    return all(map(_alike, of_one, of_other))


def _alike(a: Tensor, b: Tensor) -> bool:
    """True if two responses are close in the channels that both have: a scheme that owns attention
    does not tell which keys a row sees.
    """
    channels = min(a.shape[-1], b.shape[-1])
    return _close(a[..., :channels], b[..., :channels])


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
    T = at.length
    rows = [T // 2, 3 * T // 4, T - 1]
    if embedded and scheme.uses("embed", layer=at.layer):
        C = x.shape[-1]
        added = scheme.embed(x, at) - x
        codes = added * torch.arange(1, C + 1)
        qkv = qkv + codes.mean(-1)[:, None, :, None]  # one number per token, (1, 1, T, 1)
    q, k, v = qkv
    if scheme.uses("attend", layer=at.layer):
        o = scheme.attend(q, k, v, at)
        return o[0, :, rows]
    q, k = scheme.rotate(q, k, at)
    of_rows = []
    for i in rows:
        here = at.block(i, i + 1)
        row = q[:, :, i : i + 1]
        keys = k[:, :, : i + 1]
        values = v[:, :, : i + 1]
        o = attend_rows(scheme, row, keys, values, here)[0]
        marks = here.visible * (here.j + 1.0).sqrt()
        seen = marks.sum().expand(len(o), 1, 1)
        of_rows.append(torch.cat([o, seen], -1))
    return torch.cat(of_rows, 1)


def drawn(scheme: Scheme, T: int) -> tuple[Scheme, Tensor, Tensor, Tensor]:
    """Returns a copy in float64 with parameters from N(0, 1); and for it q, k, v (3, 1, H, T, D),
    x (1, T, C) and tokens (1, T).
    """
    shape = scheme.shape
    g = torch.Generator().manual_seed(0)
    normal = partial(torch.randn, generator=g, dtype=torch.float64)
    parameters = {id(p): nn.Parameter(normal(p.shape)) for p in scheme.parameters()}
    copy = deepcopy(scheme, parameters).cpu().double().eval()
    qkv = normal(3, 1, shape.heads, T, shape.head_dim)
    x = normal(1, T, shape.dim)
    tokens = torch.randint(shape.vocab, (1, T), generator=g)
    return copy, qkv, x, tokens


def room(scheme: Scheme) -> int:
    """Returns how many tokens a probe has memory for."""
    shape = scheme.shape
    of_token = 3 * shape.heads * shape.head_dim
    return max(2, NUMBERS // of_token)
