"""FIRE against published inputs of its network, the paper's formula as a double loop,
and its reductions.
"""

from math import log

import pytest
import torch

from extrap.model.scheme import Scheme, Shape
from extrap.schemes.fire import FIRE
from tests.support.scheme_case import at, close, lower, moved, qkv, weights

SHAPE = Shape(dim=12, heads=2, layers=3, length=32)


def linear(s: FIRE, slope: float) -> FIRE:
    """f(x) = slope x, for x >= 0, in every layer and head."""
    for f in s.double().f:
        for p in f.parameters():
            p.data.zero_()
        f[0].weight.data[0], f[2].weight.data[:, 0] = 1, slope
    return s


@pytest.mark.parametrize(
    "i, j, x",
    [
        (10, 3, 0.134163637),
        (511, 0, 0.999515169),
        (1000, 3, 0.999355441),
        (4000, 3990, 0.115640914),
    ],
)
@torch.no_grad()
def test_published_inputs(i, j, x):
    s = FIRE(Shape(dim=4, heads=1, length=2048), threshold=512).double()
    s.c.fill_(0.1)
    ours = s.interpolated(
        torch.tensor([[i - j]], dtype=torch.float64), torch.tensor([i], dtype=torch.float64), 0
    )
    assert float(ours) == pytest.approx(x, abs=1e-9)


@pytest.mark.parametrize("sharing", ["per-layer", "shared"])
@torch.no_grad()
def test_the_papers_formula(sharing):
    s, T = moved(FIRE(SHAPE, hidden=5, sharing=sharing)), 20
    q, k, _ = qkv(SHAPE, T)
    ours = s.bias(q, k, at(s, T, layer=2))
    n = 2 if sharing == "per-layer" else 0
    c, a, (inner, _, outer) = abs(float(s.c[n])), abs(float(s.a[n])), s.f[n]
    for i in range(T):
        for j in range(i + 1):
            x = log(1 + c * (i - j)) / log(1 + c * max(a * 8, i))
            hidden = (inner.weight[:, 0] * x + inner.bias).clamp(min=0)
            close(ours[:, i, j], outer.weight @ hidden + outer.bias)


@torch.no_grad()
def test_reductions():
    q, k, _ = qkv(SHAPE, 20)
    s = linear(FIRE(SHAPE), 0)
    close(weights(s, q, k, at(s, 20)), weights(Scheme(SHAPE), q, k, at(s, 20)))
    s = linear(
        FIRE(SHAPE, threshold=31), -1
    )  # while i < L_f: -r1 ln(1 + c n) with r1 = 1 / psi(L_f)
    n = torch.arange(20, dtype=torch.float64)
    kerple = -torch.log1p(0.1 * (n[:, None] - n).clamp(min=0)) / torch.log1p(
        torch.tensor(3.1, dtype=torch.float64)
    )
    close(s.bias(q, k, at(s, 20))[1, lower(20)], kerple[lower(20)], 1e-7)


@torch.no_grad()
def test_the_place_of_the_query_counts_past_the_threshold_only():
    s, t = moved(FIRE(SHAPE, threshold=20), 0.01), torch.arange(9, dtype=torch.float64)
    q, k, _ = qkv(SHAPE, 9)
    s.c.fill_(0.1), s.a.fill_(1.0)
    for f in s.f:
        f[0].weight.fill_(1.0), f[2].weight.fill_(1.0)
    close(s.bias(q, k, at(s, t)), s.bias(q, k, at(s, t + 11)))
    assert (s.bias(q, k, at(s, t)) - s.bias(q, k, at(s, t + 40))).abs().max() > 0.1
    far = s.interpolated(
        torch.tensor([[0.0, 5.0, 1e6]], dtype=torch.float64),
        torch.tensor([1e6], dtype=torch.float64),
        0,
    )
    assert far.min() == 0 and far.max() == 1


def test_the_threshold_is_learned_from_the_rows_before_it():
    s = FIRE(SHAPE)
    q, k, _ = qkv(SHAPE, 32, dtype=torch.float32)
    for rows, expected in ((at(s, 32).block(0, 8), True), (at(s, 32).block(9, 32), False)):
        s.zero_grad()
        s.bias(q, k, rows)[0].square().sum().backward()
        assert s.c.grad[0] != 0 and bool(s.a.grad[0] != 0) is expected
        assert not s.c.grad[1:].any() and s.f[0][2].weight.grad[0].any()


def test_sharing_defaults_and_refusals():
    assert FIRE(SHAPE).threshold == 8 and len(FIRE(SHAPE).f) == 3
    assert len(FIRE(SHAPE, sharing="shared").f) == len(FIRE(SHAPE, sharing="shared").c) == 1
    assert sum(p.numel() for p in FIRE(SHAPE, sharing="shared").parameters()) == 64 + 33 * 2 + 2
    for threshold in (0, 32):
        with pytest.raises(ValueError, match=f"threshold={threshold}: must lie between 1 and 31"):
            FIRE(SHAPE, threshold)
    with pytest.raises(ValueError, match="hidden=0"):
        FIRE(SHAPE, hidden=0)


@pytest.mark.parametrize("hidden", [1, 5, 32])
@pytest.mark.parametrize("first", [0, 300])
@pytest.mark.parametrize("spacing", [1.0, 0.25])
def test_pieces_are_the_network_forward_and_backward(hidden, first, spacing):
    """A block of query rows far beyond the threshold, against f asked for every pair."""
    s, q = moved(FIRE(SHAPE, hidden=hidden)), torch.empty(0)
    place = at(s, torch.arange(340, dtype=torch.float64) * spacing, layer=1).block(first, 340)
    plain = s.f[1](s.interpolated(place.distance, place.q, 1)[..., None]).movedim(-1, 0)
    g = torch.randn_like(plain).masked_fill(~place.visible, 0)
    grads = []
    for b in (plain, s.bias(q, q, place)):
        close(b.masked_fill(~place.visible, 0), plain.masked_fill(~place.visible, 0), 1e-12)
        # a bias of the output moves every logit alike: its gradient is the sum of g
        grads.append(torch.autograd.grad(b, [*s.f[1].parameters(), s.c, s.a], g))
    for a, b in zip(*grads, strict=True):
        close(a, b, 1e-9)


def test_pieces_where_a_weight_is_zero():
    s = moved(FIRE(SHAPE, hidden=5))
    for f in s.f:
        f[0].weight.data[:2] = 0
        f[0].bias.data[1] = 0
    q, place = torch.empty(0), at(s, 20)
    plain = s.f[0](s.interpolated(place.distance, place.q, 0)[..., None]).movedim(-1, 0)
    close(s.bias(q, q, place).masked_fill(~place.visible, 0), plain.masked_fill(~place.visible, 0))
