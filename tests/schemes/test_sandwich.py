"""Sandwich against the paper's formula as a loop."""

from functools import partial
from math import cos

import pytest
import torch

from extrap.model.attention import attention
from extrap.model.scheme import Shape
from extrap.schemes.sandwich import Sandwich
from tests.support.scheme_case import at, weights


@pytest.mark.parametrize("start", [0, 1])
def test_the_papers_formula(start):
    b = Sandwich(Shape(dim=12, heads=3), 16, start).distance_bias(
        torch.arange(20, dtype=torch.float64).view(4, 5), 0
    )
    assert not b[:, 0, 0].any()  # a sink asks for no bias at distance 0
    for h in range(3):
        for n in range(20):
            total = sum(cos(n * 10000 ** (-2 * t / 16)) - 1 for t in range(start, start + 8))
            assert float(b[h, n // 5, n % 5]) == pytest.approx(total / (8 * (h + 1) / 3), abs=1e-12)


@torch.no_grad()
def test_bfloat16_keeps_what_the_bias_tells_apart():
    """Weights of equal keys at 0 .. 400: with the constant 64 / c_h of the paper a step of
    bfloat16 is .25 and more, as large as the bias of a whole distance.
    """
    s, T = Sandwich(Shape(dim=64, heads=8)), 400
    at_T = at(s, T)
    nothing = torch.zeros(1, 8, T, 8, dtype=torch.bfloat16)
    v = torch.eye(T).expand(1, 8, T, T).bfloat16()
    exact = weights(s, nothing.double(), nothing.double(), at_T)[0, 0, -1]
    for low in (s.attend, partial(attention, s)):
        found = low(nothing, nothing, v, at_T)[0, 0, -1]
        likely = exact > 1e-9
        assert float((found.double() / exact)[likely].log().abs().max()) < 0.1
