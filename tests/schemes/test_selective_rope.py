"""Selective RoPE against a loop over tokens, RoPE, which equal increments are, and tokens that
stand still.
"""

from math import cos, sin

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.rope import RoPE
from extrap.schemes.selective_rope import SelectiveRoPE
from tests.support.scheme_case import at, close, moved, qkv, weights

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


def inputs(T: int) -> torch.Tensor:
    return torch.randn(2, T, 12, generator=torch.Generator().manual_seed(1)).double()


@torch.no_grad()
def test_angles_as_a_loop():
    s, T = moved(SelectiveRoPE(SHAPE, base=100.0, rank=5)), 7
    x = inputs(T)
    ours = s.angles(x, 1)
    total = torch.zeros(6, dtype=torch.float64)
    for t in range(T):
        for m in range(min(t + 1, 4)):
            unit = x[0, t - m] / x[0, t - m].norm()
            total = total + s.taps[1, :, 3 - m] * (s.up[1] @ s.down[1] @ unit)
        for h in range(2):
            for p in range(3):
                expected = float(total[3 * h + p]) * 100 ** (-2 * p / 6)
                assert float(ours[0, h, t, p]) == pytest.approx(expected, abs=1e-12)


@torch.no_grad()
def test_pairs_turn_by_their_angles():
    s, T = moved(SelectiveRoPE(SHAPE)), 5
    x = inputs(T)
    q, k, _ = qkv(SHAPE, T)
    turned, _ = s.rotate(q, k, at(s, T, layer=1, x=x))
    a = s.angles(x, 1)
    for t in range(T):
        for p in range(3):
            c, d = cos(a[0, 1, t, p]), sin(a[0, 1, t, p])
            u, v = float(q[0, 1, t, p]), float(q[0, 1, t, p + 3])
            assert float(turned[0, 1, t, p]) == pytest.approx(u * c - v * d, abs=1e-12)
            assert float(turned[0, 1, t, p + 3]) == pytest.approx(u * d + v * c, abs=1e-12)


@torch.no_grad()
def test_increments_of_one_are_rope():
    """The same token everywhere, one tap, and an increment of 1."""
    s, T = SelectiveRoPE(SHAPE, base=10000.0, rank=1, taps=1).double(), 9
    x = torch.ones(2, T, 12, dtype=torch.float64)
    s.down[:] = 12**-0.5
    s.up.fill_(1.0), s.taps.fill_(1.0)
    q, k, _ = qkv(SHAPE, T)
    rope = RoPE(SHAPE, layout="half")
    close(weights(s, q, k, at(s, T, x=x)), weights(rope, q, k, at(rope, T)))


@torch.no_grad()
def test_a_token_may_stand_still():
    """Tokens without increment between query and key cost no distance."""
    s, T = moved(SelectiveRoPE(SHAPE, taps=1)), 6
    x = inputs(T)
    x[:, 2:5] = 0
    a = s.angles(x, 0)
    close(a[:, :, 1], a[:, :, 4])
    assert (a[:, :, 5] - a[:, :, 4]).abs().max() > 1e-3


@torch.no_grad()
def test_angles_of_long_texts_are_exact():
    """Sums in float64: the increment after 30000 tokens of 3 rad is still 3 rad."""
    s, T = SelectiveRoPE(Shape(dim=4, heads=1), rank=1, taps=1), 30000
    s.down.data[:], s.up.data[:], s.taps.data[:] = 0.5, 3.0, 1.0
    a = s.angles(torch.ones(1, T, 4), 0)[0, 0, :, 0]
    assert float(a[-1] - a[-2]) == pytest.approx(3.0, abs=1e-6)
    assert float(a[-1]) == pytest.approx(3.0 * T, rel=1e-6)


def test_refusals():
    for options in ({"rank": 0}, {"taps": 0}):
        with pytest.raises(ValueError, match="must be at least 1"):
            SelectiveRoPE(SHAPE, **options)
    with pytest.raises(ValueError, match="base=1"):
        SelectiveRoPE(SHAPE, base=1.0)
    with pytest.raises(ValueError, match="5 channels"):
        SelectiveRoPE(Shape(10, 2))
