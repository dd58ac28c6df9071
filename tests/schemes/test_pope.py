"""PoPE against its sum over channels as a loop."""

from math import cos, exp, log, pi

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.pope import PoPE
from tests.support.scheme_case import at, moved, qkv, scores

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


@pytest.mark.parametrize("t", [[0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 3.0, 11.0, 12.5]])
@torch.no_grad()
def test_the_papers_sum(t):
    s = moved(PoPE(SHAPE, base=100.0))
    t, T = torch.tensor(t, dtype=torch.float64), len(t)
    q, k, _ = qkv(SHAPE, T)
    place = at(s, t, layer=1)
    ours = scores(s, q, k, place)
    for i in range(T):
        for j in range(i + 1):
            logit = sum(
                log(1 + exp(q[0, 1, i, c]))
                * log(1 + exp(k[0, 1, j, c]))
                * cos(
                    float(t[i] - t[j]) * 100 ** (-c / 6)
                    - min(0.0, max(-2 * pi, float(s.delta[1, 1, c])))
                )
                for c in range(6)
            )
            assert float(ours[0, 1, i, j]) == pytest.approx(logit / 6**0.5, abs=1e-12)
