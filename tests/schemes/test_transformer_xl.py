"""Transformer-XL and XLNet against a double loop."""

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.transformer_xl import TransformerXL
from tests.support.scheme_case import at, close, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=3, length=32)
TIMES = [[*range(9)], [0, 0.25, 0.5, 0.75, 1, 1.25], [0, 0.3, 0.9, 4, 4.5, 11]]


@pytest.mark.parametrize("sharing", ["shared", "per-layer"])
@pytest.mark.parametrize("clamp", [None, 3])
@pytest.mark.parametrize("t", TIMES)
@torch.no_grad()
def test_the_papers_sum_at_any_coordinates(sharing, clamp, t):
    s = moved(TransformerXL(SHAPE, sharing, clamp))
    t, T = torch.tensor(t, dtype=torch.float64), len(t)
    q, k, _ = qkv(SHAPE, T)
    ours = s.bias(q, k, at(s, t, layer=2))
    u, v = s.u[-1, :, 0], s.v[-1, :, 0]
    theta = torch.tensor([10000 ** (-2 * p / 12) for p in range(6)], dtype=torch.float64)
    for i in range(T):
        for j in range(i + 1):
            angle = min(float(t[i] - t[j]), clamp or 99) * theta
            r = (s.w[2] @ torch.cat([angle.sin(), angle.cos()])).view(2, 6)
            for h in range(2):
                expected = (u[h] @ k[1, h, j] + (q[1, h, i] + v[h]) @ r[h]) / 6**0.5
                close(ours[1, h, i, j], expected)
