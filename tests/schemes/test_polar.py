"""Polar attention: its formulas as a loop."""

from math import exp, log, log1p, sqrt

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.polar import NullFloor, PolarAttention
from tests.support.scheme_case import at, close, moved, qkv

SHAPE = Shape(dim=8, heads=2, layers=2, length=16)


def softplus(x: float) -> float:
    return log1p(exp(x))


@pytest.mark.parametrize("cls", [NullFloor, PolarAttention])
@torch.no_grad()
def test_the_formulas(cls):
    s, T, layer = moved(cls(SHAPE)), 6, 1
    place = at(s, T, layer)
    q, k, v = qkv(SHAPE, T)
    ours = s.gate(s.attend(q, k, v, place), place)
    for h in range(2):
        for i in range(T):
            heat, value = 1.0, torch.zeros(4, dtype=torch.float64)
            if cls is PolarAttention:
                heat += softplus(float(s.a[layer, h])) * log(i + 1)
                value = s.v[layer, h, 0]
            null = float(s.b[layer, h]) + softplus(float(s.c[layer, h])) * sqrt(log(i + 2))
            e = [exp(heat * float(q[0, h, i] @ k[0, h, j]) / 2) for j in range(i + 1)]
            u = exp(null) * value + sum(e[j] * v[0, h, j] for j in range(i + 1))
            u = u / (exp(null) + sum(e))
            close(ours[0, h, i], u / u.norm() if cls is PolarAttention else u)
