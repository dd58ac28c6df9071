"""Sigmoid attention against the formula, entry by entry, and its sum where it starts."""

from math import exp, log

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.sigmoid_attention import SigmoidAttention
from tests.support.scheme_case import at, close, qkv, weights

SHAPE = Shape(dim=16, heads=2, layers=1, length=16)
T = 12


@pytest.mark.parametrize("count", ["trained", "visible"])
def test_the_formula(count):
    s, (q, k, _) = SigmoidAttention(SHAPE, count), qkv(SHAPE, T)
    z = (q @ k.mT * s.scale).tolist()
    a = weights(s, q, k, at(s, T))
    for b, h, i, j in [(0, 0, 0, 0), (0, 1, 5, 3), (1, 0, 11, 0), (1, 1, 11, 11), (0, 0, 7, 2)]:
        n = 16 if count == "trained" else i + 1
        assert float(a[b, h, i, j]) == pytest.approx(1 / (1 + exp(log(n) - z[b][h][i][j])), 1e-12)
    assert not a.triu(1).any()


@pytest.mark.parametrize(
    "count, T, total", [("trained", 16, 1), ("trained", 64, 4), ("visible", 64, 1)]
)
def test_keys_of_logit_0_sum_to_about_1(count, T, total):
    s, q = SigmoidAttention(SHAPE, count), torch.zeros(1, 2, T, 8, dtype=torch.float64)
    n = 16 if count == "trained" else T
    last = weights(s, q, q, at(s, T))[0, 0, -1].sum()
    close(last, torch.tensor(T / (1 + n), dtype=torch.float64))
    assert float(last) == pytest.approx(total, abs=0.3)
