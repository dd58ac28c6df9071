"""PoPE against x-transformers and its sum over channels as a loop."""

from math import cos, exp, log, pi

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.pope import PoPE
from tests.support.scheme_case import at, close, lower, moved, qkv, scores

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


@pytest.mark.parametrize("T, heads, width", [(1, 1, 4), (7, 2, 6), (40, 3, 5)])
@torch.no_grad()
def test_equals_x_transformers(T, heads, width):
    from tests.support.oracles import PolarEmbedding, apply_polar_pos_emb

    shape = Shape(dim=heads * width, heads=heads, layers=2)
    s, oracle = moved(PoPE(shape)).float(), PolarEmbedding(width, heads)
    oracle.learned_bias.data = s.delta[1][:, None]
    angle, bias = oracle(torch.arange(T))
    q, k, _ = qkv(shape, T, dtype=torch.float32)
    theirs = apply_polar_pos_emb(q, angle) @ apply_polar_pos_emb(k, angle + bias).mT * width**-0.5
    place = at(s, T, layer=1)
    close(scores(s, q, k, place)[..., lower(T)], theirs[..., lower(T)], 2e-5)


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
