"""Properties of the logits of the last query: which places they tell apart, and how they change as
coordinates shift and as text grows.

If the weights of a scheme are no softmax of logits, most properties look at the weights.
"""

from functools import partial
from math import nan

import torch
from torch import Tensor

from extrap.audit.column import Column, below, error
from extrap.audit.subject import (
    SHAPE,
    Subject,
    draw,
    finite,
    last_logits,
    layers,
    moved,
    repeated,
    words,
)
from extrap.model.gpt import GPT
from extrap.model.parts import parts
from extrap.model.scheme import OutOfRange

L = SHAPE.length


@torch.no_grad()
def unique(subject: Subject) -> int:
    """Counts the different signatures among the L places of a text of one repeated token.

    The signature of a place: its logit in every head and layer (its weight if that is no softmax
    of logits), whether it is visible, and the output that its value gives at weight 1.
    """
    model = subject.drawn
    tokens, x = repeated(4, L)
    scheme = model.scheme
    at = model.where(tokens)
    found = []
    for q, k, v, here in layers(model, x, at):
        s = last_logits(scheme, q, k, here)
        visible = (s > -torch.inf).double()
        found.append(finite(s).flatten(0, 1))
        found.append(visible.flatten(0, 1))
        if scheme.uses("normalise", layer=here.layer):
            a = last_logits(scheme, q, k, here, weighed=True)
            found.append(a.flatten(0, 1))
        if scheme.uses("mix"):
            one = torch.eye(L, dtype=v.dtype)[:, None, None]
            of_heads = one.expand(L, SHAPE.heads, 1, L)
            values = v[:1].expand(L, -1, -1, -1)
            last = here.block(L - 1, L)
            given = scheme.mix(of_heads, values, last)
            found.append(given[:, :, 0].flatten(1).T)
    signatures = torch.cat(found).T
    largest = max(float(signatures.abs().max()), 1e-300)
    apart = torch.cdist(signatures, signatures, p=torch.inf)
    same = apart <= 1e-9 * largest
    as_before = same.tril(-1).any(1)
    return int((~as_before).sum())


NEAR = L // 2
SAME_AT_ANY_LENGTH = 1e-6


def length(subject: Subject) -> float:
    """Returns the change of the logits to the same last L/2 tokens as more text comes before them,
    in texts of L/2, L, 2 L and 4 L tokens within the range of the scheme.

    Weights that are no softmax of logits are compared up to a factor: a denominator over all keys
    changes it, as under a softmax.
    """
    found = [recent(subject.drawn, n * NEAR) for n in (1, 2, 4, 8)]
    short, *longer = [s for s in found if s is not None]
    spread = short.std()
    changes = [(s - short).abs().max() for s in longer]
    return max(float(change / spread) for change in changes)


@torch.no_grad()
def recent(model: GPT, T: int) -> Tensor | None:
    """(layers, H, L/2): logits of the last query of T tokens to the last L/2; None if undefined."""
    tokens = words(8 * NEAR)[:, -T:]
    x = draw(1, 8 * NEAR, SHAPE.dim)[:, -T:]
    try:
        at = model.where(tokens)
    except OutOfRange:
        return None
    found = []
    for q, k, _, here in layers(model, x, at):
        of_all = finite(last_logits(model.scheme, q, k, here, weighed=True))
        s = of_all[0, :, -NEAR:]
        weights = model.scheme.uses("normalise", "attend", layer=here.layer)
        if weights:
            total = s.abs().sum(-1, keepdim=True)
            s = s / total.clamp(min=1e-300)
        found.append(s)
    return torch.stack(found)


SHIFTS = {"shift_3": 3, "shift_1e2": 10**2, "shift_1e4": 10**4, "shift_1e6": 10**6}
SAME_SHIFTED = 1e-3


def shift(by: int, subject: Subject) -> float:
    """Returns the largest change of a logit or of an output of attention as every coordinate moves
    by a constant, in standard deviations of either, in float32; nan if undefined there.

    A relative scheme has the error of rounding, at a million tokens as well.
    """
    model = subject.drawn.float()
    try:
        plain = answers(model, 0)
        shifted = answers(model, by)
    except OutOfRange:
        return nan
    finally:
        model.double()
    changes = []
    for a, b in zip(plain, shifted, strict=True):
        change = (b - a).abs().max() / a.std()
        changes.append(float(change.nan_to_num(torch.inf)))
    return max(changes)


@torch.no_grad()
def answers(model: GPT, shift: float) -> list[Tensor]:
    """Returns logits of the last query and outputs of all, for each layer."""
    tokens = words(L - 4)
    x = draw(1, L - 4, SHAPE.dim).float()
    at = model.where(tokens)
    found = []
    if shift:
        at = moved(model.scheme, at, at.q + shift)
    scheme = model.scheme
    for q, k, v, here in layers(model, x, at):
        s = last_logits(scheme, q, k, here)
        out = scheme.attend(q, k, v, here)
        found.append(finite(s))
        found.append(scheme.gate(out, here))
    return found


TOKENS, BACK = 24, 5


def real(subject: Subject) -> bool:
    """True if a key that moves by half a token gets a logit other than at both whole distances."""
    model = subject.drawn
    half = logit(model, 0.5)
    from_whole = (half - logit(model, 0.0)).abs().max()
    from_next = (half - logit(model, 1.0)).abs().max()
    return bool(from_whole > 1e-9 and from_next > 1e-9)


@torch.no_grad()
def logit(model: GPT, by: float) -> Tensor:
    """(layers, H): of the key BACK tokens before the last query, moved by `by` towards it."""
    at = model.where(words(TOKENS))
    t = at.q.clone()
    t[-1 - BACK] += by
    try:
        at = moved(model.scheme, at, t)
    except OutOfRange:
        size = (len(model.blocks), SHAPE.heads)
        return torch.full(size, torch.nan)
    x = draw(1, TOKENS, SHAPE.dim)
    found = [last_logits(model.scheme, q, k, here) for q, k, _, here in layers(model, x, at)]
    return torch.stack(found)[:, 0, :, -1 - BACK]


def axes(subject: Subject) -> int:
    """Returns the option `axes` of a part: a hook gets one coordinate per token to measure."""
    found = parts(subject.fresh.scheme)
    return max((getattr(part, "axes", 1) for part in found), default=1)


UNIQUE = Column(
    "unique", "places", "of the L = 64 places, those that the last query tells apart in a text "
    "of one repeated token", unique, str, lambda value: value == L
)  # fmt: skip
LENGTH = Column(
    "same_at_any_length", "at any T", "change of logits to the same last L/2 tokens as text is "
    "put before them, in standard deviations", length, error, below(SAME_AT_ANY_LENGTH)
)  # fmt: skip
SHIFT = tuple(
    Column(
        name, f"+{by:.0e}".replace("e+0", "e") if by > 3 else f"+{by}",
        f"change of logits and of attention outputs when all coordinates move by {by:,}, in "
        "standard deviations, float32", partial(shift, by), error, below(SAME_SHIFTED)
    )
    for name, by in SHIFTS.items()
)  # fmt: skip
AXES = (
    Column(
        "real", "half", "a key half a token away has a logit of its own, other than at both whole "
        "distances", real, lambda value: "yes" if value else "no", bool
    ),
    Column(
        "axes", "axes", "coordinates of a token: declared by an option of its parts, not measured",
        axes
    ),
)  # fmt: skip
