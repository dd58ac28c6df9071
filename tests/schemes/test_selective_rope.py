"""Selective RoPE against a loop over tokens."""

from math import cos, sin

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.selective_rope import SelectiveRoPE
from tests.support.scheme_case import at, hidden, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


@torch.no_grad()
def test_angles_as_a_loop():
    s, T = moved(SelectiveRoPE(SHAPE, base=100.0, rank=5)), 7
    x = hidden(SHAPE, T)
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
    x = hidden(SHAPE, T)
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
def test_angles_of_long_texts_are_exact():
    """Sums in float64: the increment after 30000 tokens of 3 rad is still 3 rad."""
    s, T = SelectiveRoPE(Shape(dim=4, heads=1), rank=1, taps=1), 30000
    s.down.data[:], s.up.data[:], s.taps.data[:] = 0.5, 3.0, 1.0
    a = s.angles(torch.ones(1, T, 4), 0)[0, 0, :, 0]
    assert float(a[-1] - a[-2]) == pytest.approx(3.0, abs=1e-6)
    assert float(a[-1]) == pytest.approx(3.0 * T, rel=1e-6)
