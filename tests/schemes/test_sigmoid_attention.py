"""Sigmoid attention against the formula, entry by entry, past the training length as well."""

from math import exp, log

import pytest

from extrap.model.scheme import Shape
from extrap.schemes.sigmoid_attention import SigmoidAttention
from tests.support.scheme_case import at, qkv, weights

SHAPE = Shape(dim=16, heads=2, layers=1, length=16)
T = 24


@pytest.mark.parametrize("count", ["trained", "visible"])
def test_the_formula(count):
    s, (q, k, _) = SigmoidAttention(SHAPE, count), qkv(SHAPE, T)
    z = (q @ k.mT * s.scale).tolist()
    a = weights(s, q, k, at(s, T))
    for b, h, i, j in [(0, 0, 0, 0), (0, 1, 5, 3), (1, 0, 11, 0), (1, 1, 23, 11), (0, 0, 7, 2)]:
        n = 16 if count == "trained" else i + 1
        assert float(a[b, h, i, j]) == pytest.approx(1 / (1 + exp(log(n) - z[b][h][i][j])), 1e-12)
    assert not a.triu(1).any()
