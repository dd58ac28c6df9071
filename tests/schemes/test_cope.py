"""CoPE against x-transformers and the paper's sums as loops."""

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


@torch.no_grad()
def test_the_papers_sums():
    s, T = moved(CoPE(SHAPE, pmax=3)), 7
    q, k, _ = qkv(SHAPE, T)
    ours = s.bias(q, k, at(s, T, layer=1))
    for i in range(T):
        for j in range(i + 1):
            p = min(
                sum(float((q[0, 1, i] @ k[0, 1, t] / 6**0.5).sigmoid()) for t in range(j, i + 1)), 2
            )
            low, high = (float(q[0, 1, i] @ s.e[1, n]) for n in (int(p), min(int(p) + 1, 2)))
            assert float(ours[0, 1, i, j]) == pytest.approx(
                (1 - p % 1) * low + (p % 1) * high, abs=1e-12
            )


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
