"""Softpick against the paper's formula as a loop, at logits where e^x overflows too."""

from math import exp

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.softpick import Softpick
from tests.support.scheme_case import at, close, lower, qkv, weights

SHAPE = Shape(dim=16, heads=2, layers=1, length=16)
T = 12


def test_the_papers_formula():
    s, (q, k, _) = Softpick(SHAPE), qkv(SHAPE, T)
    z = (3 * q @ k.mT * s.scale).tolist()
    expected = torch.zeros(2, 2, T, T, dtype=torch.float64)
    for b in range(2):
        for h in range(2):
            for i in range(T):
                e = [exp(z[b][h][i][j]) - 1 for j in range(i + 1)]
                for j in range(i + 1):
                    expected[b, h, i, j] = max(e[j], 0) / (sum(abs(x) for x in e) + 1e-6)
    close(weights(s, 3 * q, k, at(s, T)), expected)
    assert (expected.sum(-1) < 1).any() and ((expected == 0) & lower(T)).any()


@pytest.mark.parametrize("scale", [1.0, 60.0])
def test_gradients_are_those_of_the_formula(scale):
    q, k, _ = qkv(SHAPE, 6)
    z = (scale * q @ k.mT).requires_grad_()
    here = at(Softpick(SHAPE), 6)
    assert torch.autograd.gradcheck(lambda z: Softpick(SHAPE).normalise(z, here), z, atol=1e-6)
