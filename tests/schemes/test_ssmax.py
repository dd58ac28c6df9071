"""Scalable-Softmax: powers of the number of keys, one learned slope per layer and head."""

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.log_n import LogN
from extrap.schemes.ssmax import SSMax
from tests.support.scheme_case import at, close, moved, qkv, weights

SHAPE = Shape(dim=16, heads=2, layers=3, length=64)


def test_starts_as_log_n():
    s, place = SSMax(SHAPE).requires_grad_(False), at(SSMax(SHAPE), 100)
    assert s.s.shape == (3, 2)
    close(s.temperature(place), LogN(SHAPE, 0.0).temperature(place).expand(2, -1, -1), 1e-6)
    assert float(s.temperature(place)[0, 63]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("layer", [0, 2])
def test_equals_a_double_loop(layer):
    """a_ij = n_i**(s l_ij) / sum_j n_i**(s l_ij)."""
    s, T = moved(SSMax(SHAPE)), 7
    q, k, _ = qkv(SHAPE, T, batch=1)
    a = torch.zeros(2, T, T, dtype=torch.float64)
    for h in range(2):
        for i in range(T):
            powers = [
                (i + 1) ** float(s.s.detach()[layer, h] * (q[0, h, i] @ k[0, h, j]) * s.scale)
                for j in range(i + 1)
            ]
            a[h, i, : i + 1] = torch.tensor(powers, dtype=torch.float64) / sum(powers)
    close(weights(s, q, k, at(s, T, layer)), a[None])
