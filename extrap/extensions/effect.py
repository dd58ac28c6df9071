"""Does an extension do anything? extrap probes a scheme with it and without, and refuses an
extension that changes no logit. The probes: extrap.extensions.probe.
"""

from copy import deepcopy
from dataclasses import replace
from math import inf

import torch
from torch import Tensor

from extrap.extensions.probe import (
    SAME,
    SHIFT,
    counts_tokens,
    knows_distances,
    response,
    responses,
    room,
    same,
    token_coordinates,
)
from extrap.model.scheme import OutOfRange, Scheme, Where, place

LATER = 7
"""Tokens by which a probe moves the beginning of a text."""
MOST = 2**15
"""Tokens of a probe, at most, unless 2 L are more: a probe takes seconds, not minutes."""
ROWS = 129
"""Queries of a probe of how far back a mask lets them look."""


def check_distances(scheme: Scheme) -> None:
    """Raises ValueError unless attention depends on distances, and these count tokens."""
    if not counts_tokens(scheme):
        raise ValueError("its coordinates do not count tokens")
    if not knows_distances(scheme):
        raise ValueError("its attention is no function of the distance between tokens")


def check_acts(plain: Scheme, extended: Scheme) -> None:
    """Raises ValueError if at 4 L tokens attention is the same with the extension."""
    t = token_coordinates(_asked(plain))
    if _far_enough(t, plain) and same(plain, t, extended, t):
        raise ValueError("every distance it tells apart would stay as it is")


def check_changes(plain: Scheme, extended: Scheme) -> None:
    """Raises ValueError if the extension changes nothing of attention at 4 L tokens; or within L,
    if neither scheme is defined at 4 L.

    A mask that hides other keys counts as a change, whatever weight random parameters give those
    keys. If memory does not let a probe read past L, the extension passes.
    """
    t = token_coordinates(_asked(plain))
    try:
        alike = _far_enough(t, plain) and _same_places(plain, extended, t)
    except (OutOfRange, IndexError):
        if _defined(plain, t) or _defined(extended, t):
            return
        alike = _same_places(plain, extended, token_coordinates(min(plain.shape.length, len(t))))
    if alike and _sees_alike(plain, extended, t):
        raise ValueError("it changes no logit there")


def _same_places(plain: Scheme, extended: Scheme, t: Tensor) -> bool:
    own, other = (deepcopy(scheme).eval().positions(t) for scheme in (plain, extended))
    return same(plain, own, extended, other, embedded=True)


def _defined(scheme: Scheme, t: Tensor) -> bool:
    try:
        for _ in responses(scheme, deepcopy(scheme).eval().positions(t), embedded=True):
            pass
    except (OutOfRange, IndexError):
        return False
    return True


def _sees_alike(plain: Scheme, extended: Scheme, t: Tensor) -> bool:
    """True if the last token sees the same keys in every layer that has a mask."""
    for layer in range(plain.shape.layers):
        if plain.uses("attend", layer=layer) or extended.uses("attend", layer=layer):
            continue
        one, other = (
            _masked(scheme, layer, t).block(len(t) - 1, len(t)).visible
            for scheme in (plain, extended)
        )
        if not torch.equal(one, other):
            return False
    return True


def _asked(scheme: Scheme) -> int:
    """Returns the tokens that a probe reads: 4 L if that is not too many."""
    L = scheme.shape.length
    return min(4 * L, max(MOST, 2 * L), room(scheme))


def _far_enough(t: Tensor, scheme: Scheme) -> bool:
    """True if a probe reads far enough past L to judge it."""
    return len(t) >= 2 * scheme.shape.length


def check_reads_on(scheme: Scheme, kept: int) -> None:
    """Raises ValueError if the last `kept` tokens are all that the model reads: every layer has a
    mask, all layers together look less than `kept` tokens back, masks and temperatures do not
    depend on the beginning of the text, and only distances between coordinates matter.
    """
    layers = range(scheme.shape.layers)
    if sum(looks_back(scheme, layer) for layer in layers) >= kept:
        return
    if not all(_moves_along(scheme, layer) for layer in layers):
        return
    t = token_coordinates(min(scheme.shape.length, room(scheme)))
    one, other = (response(scheme, x, embedded=True) for x in (t, t + SHIFT))
    if torch.allclose(one, other, rtol=0, atol=SAME):
        raise ValueError(f"it changes no logit: no layer reads past the last {kept} tokens")


def looks_back(scheme: Scheme, layer: int) -> float:
    """Returns how many tokens back some of the last L queries of a long text see in one layer;
    infinite without a mask.
    """
    if scheme.uses("attend", layer=layer) or not scheme.uses("sees", layer=layer):
        return inf
    last = _late_rows(scheme, layer)
    return float(torch.where(last.visible, last.back, 0).max())


def _moves_along(scheme: Scheme, layer: int) -> bool:
    """True if mask and temperature of a query stay the same in a text that begins a few tokens
    later. A chunk moves its borders then.
    """
    last = _late_rows(scheme, layer)
    moved = replace(last, i=last.i - LATER, q=last.q - LATER, memo={})
    seen = last.visible[:, LATER:], moved.visible[:, :-LATER]
    if not torch.equal(*seen):
        return False
    warm = [scheme.temperature(at) for at in (last, moved)]
    return warm[0] is None or warm[1] is None or torch.allclose(warm[0], warm[1], rtol=0, atol=SAME)


def _late_rows(scheme: Scheme, layer: int) -> Where:
    """Returns some of the last L queries of a long text against all of its keys, in one layer."""
    L = scheme.shape.length
    n = min(4 * L, max(MOST, 2 * L))
    whole = _masked(scheme, layer, token_coordinates(n))
    rows = torch.linspace(n - L, n - 1, ROWS).long().unique()
    return replace(whole, q=whole.q[rows], i=whole.i[rows], memo={})


def _masked(scheme: Scheme, layer: int, t: Tensor) -> Where:
    """Returns all queries against all keys at coordinates t in one layer, with the mask there."""
    tokens, x = torch.zeros(1, len(t), dtype=torch.long), torch.zeros(1, len(t), scheme.shape.dim)
    return place(scheme, t, tokens=tokens).at_layer(layer, x)
