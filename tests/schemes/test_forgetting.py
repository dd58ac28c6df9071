"""Forgetting attention against x-transformers, the formula as a loop, and ALiBi, which a constant
gate is.
"""

from math import log

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.alibi import ALiBi
from extrap.schemes.forgetting import Forgetting
from tests.support.scheme_case import at, close, lower, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


def inputs(shape: Shape, T: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(2, T, shape.dim, generator=torch.Generator().manual_seed(1), dtype=dtype)


@pytest.mark.parametrize("T, dim, heads", [(1, 4, 1), (7, 12, 2), (40, 24, 3)])
@torch.no_grad()
def test_equals_x_transformers(T, dim, heads):
    from tests.support.oracles import DataDependentAlibi

    shape = Shape(dim=dim, heads=heads, layers=2)
    s, oracle = moved(Forgetting(shape)).float(), DataDependentAlibi(dim, heads)
    oracle.to_forget_gates[0].weight.data, oracle.to_forget_gates[0].bias.data = s.w[1], s.b[1]
    x = inputs(shape, T, torch.float32)
    ours = s.bias(*qkv(shape, T, dtype=torch.float32)[:2], at(s, T, layer=1, x=x)).float()
    close(ours[..., lower(T)], oracle(x)[..., lower(T)], 1e-5)


@torch.no_grad()
def test_the_papers_sum():
    s, T = moved(Forgetting(SHAPE)), 9
    x = inputs(SHAPE, T)
    ours = s.bias(*qkv(SHAPE, T)[:2], at(s, T, layer=1, x=x))
    for h in range(2):
        gates = [float((s.w[1, h] @ x[0, t] + s.b[1, h]).sigmoid()) for t in range(T)]
        for i in range(T):
            for j in range(i + 1):
                assert float(ours[0, h, i, j]) == pytest.approx(
                    sum(log(gates[t]) for t in range(j + 1, i + 1)), abs=1e-12
                )


@torch.no_grad()
def test_constant_gates_are_alibi():
    s, T = Forgetting(SHAPE, gate=1.5).double(), 9
    s.w.zero_()
    slope = -log(1 / (1 + 2.718281828459045**-1.5))
    q, k, v = qkv(SHAPE, T)
    alibi = ALiBi(SHAPE, [slope, slope])
    close(
        s.attend(q, k, v, at(s, T, x=inputs(SHAPE, T))), alibi.attend(q, k, v, at(alibi, T)), 1e-10
    )


@torch.no_grad()
def test_a_closed_gate_hides_the_past():
    s, T = Forgetting(SHAPE).double(), 9
    s.w.zero_()
    s.w[0, :, 0] = 1
    x = torch.zeros(2, T, 12, dtype=torch.float64)
    x[:, 5, 0] = -1000  # token 5 forgets all before it
    q, k, v = qkv(SHAPE, T)
    out = s.attend(q, k, v, at(s, T, x=x))
    v[:, :, :5] = 0
    changed = s.attend(q, k, v, at(s, T, x=x))
    close(out[:, :, 5:], changed[:, :, 5:])
    assert (out[:, :, :5] - changed[:, :, :5]).abs().max() > 0.1


@torch.no_grad()
def test_neighbours_stay_exact_in_long_texts():
    s, T = Forgetting(Shape(dim=12, heads=2, layers=1), gate=0.0), 30000
    s.w.zero_()
    x = torch.zeros(1, T, 12)
    place = at(s, T, x=x).block(T - 2, T)
    b = s.bias(torch.zeros(1, 2, 2, 6), torch.zeros(1, 2, T, 6), place)
    close(b[0, 0, -1, -3:], torch.tensor([-2 * log(2), -log(2), 0.0], dtype=torch.float64), 1e-9)
    assert float(b[0, 0, -1, 0]) == pytest.approx(-log(2) * (T - 1), rel=1e-9)


def test_gates_start_as_asked():
    s = Forgetting(SHAPE, gate=5.0)
    assert (s.b == 5).all() and not Forgetting(SHAPE).b.any()
    assert s.w.std() < 0.03 and s.w.abs().max() > 0
