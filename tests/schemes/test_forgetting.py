"""Forgetting attention against x-transformers."""

from math import log

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.forgetting import Forgetting
from tests.support.scheme_case import at, close, hidden, lower, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


@pytest.mark.parametrize("T, dim, heads", [(1, 4, 1), (7, 12, 2), (40, 24, 3)])
@torch.no_grad()
def test_equals_x_transformers(T, dim, heads):
    from tests.support.oracles import DataDependentAlibi

    shape = Shape(dim=dim, heads=heads, layers=2)
    s, oracle = moved(Forgetting(shape)).float(), DataDependentAlibi(dim, heads)
    oracle.to_forget_gates[0].weight.data, oracle.to_forget_gates[0].bias.data = s.w[1], s.b[1]
    x = hidden(shape, T, torch.float32)
    ours = s.bias(*qkv(shape, T, dtype=torch.float32)[:2], at(s, T, layer=1, x=x)).float()
    close(ours[..., lower(T)], oracle(x)[..., lower(T)], 1e-5)


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
