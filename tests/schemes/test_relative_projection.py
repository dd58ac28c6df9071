"""The content-conditioned relative bias against x-transformers, Inkling and a loop."""

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.relative_projection import RelativeProjection
from tests.support.scheme_case import at, close, hidden, lower, moved, qkv


@pytest.mark.parametrize("T, heads, dim, extent", [(1, 1, 4, 2), (9, 2, 12, 5), (40, 3, 24, 16)])
@torch.no_grad()
def test_equals_x_transformers_and_inkling(T, heads, dim, extent):
    from transformers.models.inkling.modeling_inkling import InklingRelativeLogits

    from tests.support.oracles import RelativeProjPositionalBias

    shape = Shape(dim=dim, heads=heads, layers=2, length=32)
    s = moved(RelativeProjection(shape, curves=3, extent=extent)).float()
    x = hidden(shape, T).float()
    q, k, _ = qkv(shape, T, dtype=torch.float32)
    ours = s.bias(q, k, at(s, T, layer=1, x=x))
    oracle = RelativeProjPositionalBias(dim, heads, num_distance_basis=3, max_dist=extent)
    linear = oracle.to_distance_weights[0]
    linear.weight.data, linear.bias.data, oracle.distance_bank.data = s.w[1], s.c[1], s.e[1]
    close(ours[..., lower(T)], oracle(x)[..., lower(T)], 1e-5)
    inkling, n = InklingRelativeLogits(3, extent), torch.arange(T)
    inkling.proj.data = s.e[1]
    theirs = inkling(linear(x).unflatten(-1, (heads, 3)), n, n)
    close(ours[..., lower(T)], theirs[..., lower(T)], 1e-5)
