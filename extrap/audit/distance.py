"""Properties of logits at far distances: how far they are defined, and how they grow or fall.

If the weights of a scheme are no softmax of logits, the fall is the fall of its weights.
"""

from functools import partial
from math import inf, isfinite, log, nan

import torch
import torch.nn.functional as F
from torch import Tensor

from extrap.audit.column import Column, below, error
from extrap.audit.subject import (
    SHAPE,
    Subject,
    draw,
    finite,
    last_logits,
    layers,
    repeated,
    words,
)
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange, Scheme, Where

L = SHAPE.length
MULTIPLES = (4, 8, 16, 32, 64, 256, 1024)
SHORT, LONGEST = 8, 64


@torch.no_grad()
def defined(subject: Subject) -> int:
    """Returns the largest multiple of L in range; 1 if logits at 4 L are not finite."""
    model = subject.drawn
    most = 1
    for m in MULTIPLES:
        try:
            t = model.scheme.positions(torch.arange(m * L, dtype=torch.float64))
        except OutOfRange:
            break
        if float(t.max()) >= model.scheme.limit:
            break
        if m == MULTIPLES[0] and not model(words(m * L), last=L).isfinite().all():
            break
        most = m
    return most


def growth(subject: Subject) -> float:
    """Returns the root mean square of the logits of the last of T tokens at distances n >= T/2, for
    T = 64 L (or the last length that is defined) over the one for T = 8 L, and the same for the
    embeddings at these places; the greatest of all. nan: not defined that far.

    A bias linear in n gives 8, a logarithm of n about 1.3, a function of bounded phases 1. Hidden
    keys have no logit.
    """
    most = defined(subject)
    if most < 16:
        return nan
    long = min(most, LONGEST)
    near = sizes(subject.drawn, SHORT * L)
    far = sizes(subject.drawn, long * L)
    return max(b / a for a, b in zip(near, far, strict=True))


@torch.no_grad()
def sizes(model: GPT, T: int) -> list[float]:
    """Root mean squares over the far half of texts of one repeated token each."""
    scheme = model.scheme
    tokens, x = repeated(8, T)
    at = model.where(tokens)
    embedded = scheme.embed(x, at.at_layer(0, x))
    found = [size(embedded.movedim(1, -1))]
    for q, k, v, here in layers(model, x, at):
        if scheme.uses("attend", layer=here.layer):
            by_place = scheme.attend(q, k, v, here).movedim(2, -1)
        else:
            by_place = last_logits(scheme, q, k, here).flip(-1)  # by distance
        found.append(size(by_place))
    return found


READ = 8
VANISHED = -150 * log(2)
"""Text that `blind` reads, in L; logarithm of the greatest weight that float32 rounds to 0."""


@torch.no_grad()
def blind(subject: Subject) -> float:
    """Returns the share of the keys that the last of 8 L tokens sees whose weight float32 rounds to
    0, over heads and layers, in a text of one repeated token; nan if undefined there.

    No training on such a text moves these keys. Zeros that a window or a sparse normaliser means
    are no such keys. Source: arXiv 2608.03994 (ALiBi goes blind).
    """
    if defined(subject) < READ:
        return nan
    model = subject.drawn
    tokens, x = repeated(1, READ * L)
    at = model.where(tokens)
    seen = 0
    lost = 0
    for q, k, _, here in layers(model, x, at):
        w = log_weights(model.scheme, q, k, here)
        visible = w > -inf
        vanished = visible & (w <= VANISHED)
        seen += int(visible.sum())
        lost += int(vanished.sum())
    return lost / seen


def log_weights(scheme: Scheme, q: Tensor, k: Tensor, at: Where) -> Tensor:
    """(B, H, T): logarithm of the size of the last query's weights, -inf for a hidden key."""
    if scheme.uses("normalise", "attend", layer=at.layer):
        a = last_logits(scheme, q, k, at, weighed=True)
        return a.abs().log()
    s = last_logits(scheme, q, k, at)
    total = s.logsumexp(-1, keepdim=True)
    if (sink := scheme.sink(at)) is not None:
        total = torch.logaddexp(total, sink.to(s)[:, None])
    return s - total


def size(s: Tensor) -> float:
    """Root mean square of the far half of the last axis; 1 if all of it is hidden, inf for nan."""
    half = s.shape[-1] // 2
    far = s[..., half:]
    seen = far[far != -torch.inf]
    if not len(seen):
        return 1.0
    value = float(seen.square().mean().sqrt())
    return value if isfinite(value) else inf


TEXTS = 64


@torch.no_grad()
def decay(equal: bool, subject: Subject) -> float:
    """Returns how far the logit falls with the distance, as constructed: (mean at the 4 nearest
    distances - mean at L/2 .. L) / s, s the standard deviation of the logit of independent Gaussian
    content; mean over heads and texts. equal: between a query and an equal key, else between
    independent ones, which are the normed input itself.

    Rotations let the first fall and not the second (arXiv 2410.06205), a bias both.
    """
    model = subject.fresh
    same = draw(TEXTS, 1, SHAPE.dim).expand(-1, L, -1)
    of_q = draw(TEXTS, L, SHAPE.dim, seed=7)
    of_k = draw(TEXTS, L, SHAPE.dim, seed=8)
    gaussian = by_distance(model, of_q, of_k)
    s = by_distance(model, same, same) if equal else gaussian
    spread = float((gaussian - gaussian.mean(0)).std())
    near = s[..., :4].mean()
    far = s[..., L // 2 :].mean()
    fall = float(near - far)
    return fall / spread if spread else 0.0


def by_distance(model: GPT, of_q: Tensor, of_k: Tensor) -> Tensor:
    """(B, H, L): logits of the last query in the first layer, nearest key first."""
    at = model.where(torch.zeros(TEXTS, L, dtype=torch.long))
    q, here = heads(model, of_q, at)
    k, _ = heads(model, of_k, at)
    s = last_logits(model.scheme, q, k, here, weighed=True)
    return finite(s).flip(-1)


def heads(model: GPT, x: Tensor, at: Where) -> tuple[Tensor, Where]:
    """(B, H, T, D): the input with what positions add to it, normed, cut into heads."""
    coded = model.scheme.embed(x, at.at_layer(0, x))
    normed = F.rms_norm(coded, (SHAPE.dim,))
    of_heads = normed.unflatten(-1, (SHAPE.heads, -1)).transpose(1, 2)
    return of_heads, at.at_layer(0, normed)


FAR = (
    Column(
        "defined", "defined", "largest length tried, in L, at which logits are defined and finite "
        "(1024: no end found)", defined,
        lambda value: "all" if value == MULTIPLES[-1] else f"to {value} L", lambda value: value > 1
    ),
    Column(
        "growth", "bounded", "growth of logits and embeddings from 8 L to 64 L: 1 bounded, 1.3 "
        "like ln n, 8 like n", growth,
        lambda value: f"x{value:.3g}" if value < 1e4 else f"x{value:.0e}", below(1.25)
    ),
    Column(
        "blind", "blind", "share of the keys seen at 8 L whose weight float32 rounds to 0, in "
        "texts of one repeated token", blind, error, below(0)
    ),
)  # fmt: skip
DECAY = tuple(
    Column(
        f"decay_{name}", head,
        f"as constructed: fall of the logit of {what} from the 4 nearest distances to L/2 .. "
        "L, in s", partial(decay, equal), "{:+.2f}".format, lambda value: value >= 0.25
    )
    for name, equal, head, what in (
        ("aligned", True, "q=k falls", "equal query and key"),
        ("gaussian", False, "q,k falls", "independent Gaussian ones"),
    )
)  # fmt: skip
