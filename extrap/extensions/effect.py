"""Does an extension do anything? extrap probes a scheme with it and without, and refuses an
extension that changes no logit. The probes: extrap.extensions.probe.
"""

from copy import deepcopy
from dataclasses import replace

import torch
from torch import Tensor

from extrap.extensions.layers import late_rows
from extrap.extensions.probe import (
    SAME,
    SHIFT,
    counts_tokens,
    knows_distances,
    room,
    same,
    token_coordinates,
)
from extrap.model.scheme import OutOfRange, Scheme, Where

LATER = 7
"""Tokens by which a probe moves the beginning of a text."""
SHORT = 2**8
"""Tokens in which most methods show already; the long text takes a minute at L = 32768."""
MOST = 2**15
"""Tokens of a probe, at most, unless 2 L are more: a probe takes seconds, not minutes."""


def check_distances(scheme: Scheme) -> None:
    """Raises ValueError unless attention depends on distances, and these count tokens."""
    if not counts_tokens(scheme):
        raise ValueError("its coordinates do not count tokens")
    if not knows_distances(scheme):
        raise ValueError("its attention is no function of the distance between tokens")


def check_changes(plain: Scheme, extended: Scheme) -> None:
    """Raises ValueError if the extension changes nothing of attention in a short text and at 4 L
    tokens; or within L, if neither scheme is defined at 4 L.

    A mask that hides other keys counts as a change, whatever weight random parameters give those
    keys. If memory does not let a probe read past L, the extension passes.
    """
    L = plain.shape.length
    t = token_coordinates(min(_long(L), room(plain)))
    if len(t) < 2 * L:
        return
    defined = [_defined(scheme, t) for scheme in (plain, extended)]
    if defined[0] != defined[1]:
        return
    t = t if all(defined) else t[:L]
    for text in (t[:SHORT], t) if len(t) > SHORT else (t,):
        own, other = (deepcopy(scheme).eval().positions(text) for scheme in (plain, extended))
        if not same(plain, own, extended, other, embedded=True):
            return
    raise ValueError("it changes no logit there")


def _defined(scheme: Scheme, t: Tensor) -> bool:
    try:
        return float(deepcopy(scheme).eval().positions(t).max()) < scheme.limit
    except OutOfRange:
        return False


def _long(L: int) -> int:
    """Returns the tokens of a long text: 4 L if that is not too many."""
    return min(4 * L, max(MOST, 2 * L))


def check_reads_on(scheme: Scheme, kept: int) -> None:
    """Raises ValueError if the last `kept` tokens are all that the model reads: every layer has a
    mask, all layers together look less than `kept` tokens back, masks and temperatures do not
    depend on the beginning of the text, and only distances between coordinates matter.
    """
    layers, L, uses = range(scheme.shape.layers), scheme.shape.length, scheme.uses
    masked = [n for n in layers if uses("sees", layer=n) and not uses("attend", layer=n)]
    late = [late_rows(scheme, layer, _long(L)) for layer in masked]
    back = sum(int(torch.where(at.visible, at.back, 0).max()) for at in late)
    if len(late) < len(layers) or back >= kept or not all(_moves_along(scheme, at) for at in late):
        return
    t = token_coordinates(min(L, room(scheme)))
    if same(scheme, t, scheme, t + SHIFT, embedded=True):
        raise ValueError(f"it changes no logit: no layer reads past the last {kept} tokens")


def _moves_along(scheme: Scheme, late: Where) -> bool:
    """True if mask and temperature stay in a text that begins later; chunks do not."""
    moved = replace(late, i=late.i - LATER, q=late.q - LATER, memo={})
    if not torch.equal(late.visible[:, LATER:], moved.visible[:, :-LATER]):
        return False
    warm = [scheme.temperature(at) for at in (late, moved)]
    return warm[0] is None or warm[1] is None or torch.allclose(warm[0], warm[1], rtol=0, atol=SAME)
