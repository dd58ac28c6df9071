"""1.5-entmax against a bisection of its definition, ASEntmax against the authors' formula as a
loop.
"""

from math import exp, inf, log, log1p, tanh

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from extrap.model.attention import explicit
from extrap.model.scheme import Shape
from extrap.schemes.entmax import ASEntmax, entmax15
from tests.support.scheme_case import at, close, hidden, moved, qkv, weights

SHAPE = Shape(dim=16, heads=2, layers=2, length=16)
T = 10


def bisected(z: list[float]) -> list[float]:
    """[z_j / 2 - tau]_+^2 with tau such that they sum to 1, halving an interval that holds it."""
    low, high = max(z) / 2 - 1, max(z) / 2
    for _ in range(100):
        tau = (low + high) / 2
        if sum(max(x / 2 - tau, 0) ** 2 for x in z) > 1:
            low = tau
        else:
            high = tau
    return [max(x / 2 - tau, 0) ** 2 for x in z]


@given(z=st.lists(st.floats(-30, 30), min_size=1, max_size=12), hidden=st.integers(0, 3))
def test_entmax_is_the_root_of_its_definition(z, hidden):
    found = entmax15(torch.tensor([*z, *[-inf] * hidden], dtype=torch.float64))
    close(found, torch.tensor([*bisected(z), *[0.0] * hidden], dtype=torch.float64), 1e-9)


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_gradients_of_entmax(scale):
    z = scale * torch.randn(5, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert torch.autograd.gradcheck(entmax15, z.requires_grad_(), atol=1e-6)


@torch.no_grad()
def test_the_authors_formula():
    s, layer, (q, k, _) = moved(ASEntmax(SHAPE)), 1, qkv(SHAPE, T)
    x = hidden(SHAPE, T)
    z = (q @ k.mT * s.scale).tolist()
    a = weights(s, q, k, at(s, T, layer, x))
    for b in range(2):
        for h in range(2):
            for i in range(T):
                rise = log1p(exp(float(x[b, i] @ s.u[layer, h])))
                exponent = 2 * tanh(float(x[b, i] @ s.w[layer, h]))
                c = 1 + rise * log(i + 2) ** exponent
                row = bisected([c * z[b][h][i][j] for j in range(i + 1)])
                close(a[b, h, i, : i + 1], torch.tensor(row, dtype=torch.float64), 1e-9)


@pytest.mark.parametrize("autocast", [False, True])
@torch.no_grad()
def test_a_temperature_does_not_magnify_the_rounding_of_bfloat16(autocast):
    """Logits that a temperature of some hundreds meets are products in float32."""
    s = ASEntmax(SHAPE, delta=300.0)
    x, (q, k, v) = torch.zeros(2, T, 16), qkv(SHAPE, T, dtype=torch.bfloat16)
    q, k, v = (z / 4 for z in (q, k, v))
    exact = s.double().attend(q.double(), k.double(), v.double(), at(s, T, x=x.double()))
    s.float()
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        for ours in (s.attend(q, k, v, at(s, T, x=x)), explicit(s, q, k, v, at(s, T, x=x))):
            assert (ours.double() - exact).abs().max() < 0.01 * exact.abs().max()
