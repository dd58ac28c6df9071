"""CoPE against x-transformers."""

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.cope import CoPE
from tests.support.scheme_case import at, close, lower, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


@pytest.mark.parametrize(
    "T, heads, width, pmax", [(1, 1, 4, 2), (8, 2, 6, 3), (25, 3, 8, 32), (40, 4, 2, 16)]
)
@torch.no_grad()
def test_equals_x_transformers(T, heads, width, pmax):
    from tests.support.oracles import CoPE as Oracle

    shape = Shape(dim=heads * width, heads=heads, layers=2, length=32)
    s = moved(CoPE(shape, pmax)).float()
    oracle = Oracle(width, heads, pmax)
    oracle.pos_emb.data = s.e[1]
    q, k, _ = qkv(shape, T, dtype=torch.float32)
    logits = (q @ k.mT / width**0.5).masked_fill(~lower(T), -torch.inf)
    close(s.bias(q, k, at(s, T, layer=1))[..., lower(T)], oracle(q, logits)[..., lower(T)], 1e-5)


def test_gates_learn():
    s, (q, k, _) = moved(CoPE(SHAPE)), qkv(SHAPE, 9)
    k.requires_grad_()
    s.bias(q, k, at(s, 9)).square().sum().backward()
    assert k.grad.isfinite().all() and k.grad.any()


def test_counts_are_not_lost_in_bfloat16():
    s = CoPE(Shape(dim=4, heads=1, length=4096), pmax=4096)
    gates = torch.ones(1, 1000, dtype=torch.bfloat16)
    z = torch.arange(4096, dtype=torch.float32)[None]
    assert s.interpolated(z, gates)[0, -3:].tolist() == [998, 999, 1000]
