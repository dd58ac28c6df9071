"""GAPE: the formula of its source as a loop."""

from math import exp, log1p

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.gape import GAPE
from extrap.schemes.rope import RoPE
from tests.support.scheme_case import at, close, moved, qkv, weights

SHAPE = Shape(dim=8, heads=2, layers=2, length=16)


def softplus(x: float) -> float:
    return log1p(exp(x))


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("t", [[0.0, 1, 2, 3, 4, 5, 6], [0.0, 0.5, 3, 11, 12.5, 30, 31]])
@torch.no_grad()
def test_the_formula(t, layout):
    start = GAPE(SHAPE)
    assert not start.b.any() and softplus(float(start.gamma[1, 1])) == pytest.approx(1)
    s, layer, t = moved(GAPE(SHAPE, 10.0, layout)), 1, torch.tensor(t, dtype=torch.float64)
    place, T = at(s, t, layer), len(t)
    q, k, _ = qkv(SHAPE, T)
    plain = RoPE(SHAPE, 10.0, layout)
    content = plain.score(*plain.rotate(q, k, place), place)
    ours = weights(s, q, k, place)
    for h in range(2):
        wg, wl, bg, bl = (of[n, layer, h] for of in (s.w, s.b) for n in (0, 1))
        head = softplus(float(s.gamma[layer, h]))
        for i in range(T):
            g, e = softplus(float(wg @ q[0, h, i] + bg)), []
            for j in range(i + 1):
                spared = 1 / (1 + exp(-float(wl @ k[0, h, j] + bl)))
                mask = head * g * float(t[j] * (1 - spared) + t[i] * spared) / 16
                e.append(exp(float(content[0, h, i, j]) + mask))
            close(ours[0, h, i, : i + 1], torch.tensor(e, dtype=torch.float64) / sum(e))
