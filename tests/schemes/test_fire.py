"""FIRE against the paper's formula as a double loop, and its pieces against its network."""

from math import log

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.fire import FIRE
from tests.support.scheme_case import at, close, moved, pairs, qkv

SHAPE = Shape(dim=12, heads=2, layers=3, length=32)


@pytest.mark.parametrize("sharing", ["per-layer", "shared"])
@torch.no_grad()
def test_the_papers_formula(sharing):
    s, T = moved(FIRE(SHAPE, hidden=5, sharing=sharing)), 20
    q, k, _ = qkv(SHAPE, T)
    n = 2 if sharing == "per-layer" else 0
    c, a, (inner, _, outer) = abs(float(s.c[n])), abs(float(s.a[n])), s.f[n]

    def entry(h, i, j):
        x = log(1 + c * (i - j)) / log(1 + c * max(a * 8, i))
        hidden = (inner.weight[:, 0] * x + inner.bias).clamp(min=0)
        return (outer.weight @ hidden + outer.bias)[h]

    close(s.bias(q, k, at(s, T, layer=2)).tril(), pairs(T, entry))


@pytest.mark.parametrize("hidden", [1, 5, 32])
@pytest.mark.parametrize("first", [0, 300])
@pytest.mark.parametrize("spacing", [1.0, 0.25])
def test_pieces_are_the_network_forward_and_backward(hidden, first, spacing):
    """A block of query rows far beyond the threshold, against f asked for every pair. Of five
    hidden units two have no weight, and one of these no bias.
    """
    s, q = moved(FIRE(SHAPE, hidden=hidden)), torch.empty(0)
    if hidden == 5:
        s.f[1][0].weight.data[:2] = s.f[1][0].bias.data[1] = 0
    place = at(s, torch.arange(340, dtype=torch.float64) * spacing, layer=1).block(first, 340)
    plain = s.f[1](s.places(place, 1)[..., None]).movedim(-1, 0)
    g = torch.randn_like(plain).masked_fill(~place.visible, 0)
    grads = []
    for b in (plain, s.bias(q, q, place)):
        close(b.masked_fill(~place.visible, 0), plain.masked_fill(~place.visible, 0), 1e-12)
        # a bias of the output moves every logit alike: its gradient is the sum of g
        grads.append(torch.autograd.grad(b, [*s.f[1].parameters(), s.c, s.a], g))
    for a, b in zip(*grads, strict=True):
        close(a, b, 1e-9)
