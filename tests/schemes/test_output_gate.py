"""The gate against the paper's formula as a loop, beside every kernel."""

from math import exp

import pytest
import torch

from extrap.model import attention as kernels
from extrap.model.scheme import Shape
from extrap.model.stack import Only, Stack
from extrap.schemes.output_gate import OutputGate
from tests.support.discover import scheme
from tests.support.scheme_case import at, close, hidden, moved, qkv

SHAPE = Shape(dim=16, heads=2, layers=2, length=64, vocab=50)
T = 9
X = hidden(SHAPE, T)


@pytest.mark.parametrize("per", ["channel", "head"])
@torch.no_grad()
def test_the_papers_formula(per):
    s, layer, (q, k, v) = moved(OutputGate(SHAPE, per)), 1, qkv(SHAPE, T)
    here = at(s, T, layer, X)
    plain, gated = s.attend(q, k, v, here), kernels.attention(s, q, k, v, here)
    assert s.w.shape == (2, 2, 8 if per == "channel" else 1, 16)
    for b, h, i, c in [(0, 0, 0, 0), (1, 1, 8, 7), (0, 1, 4, 3), (1, 0, 5, 6)]:
        row = s.w[layer, h, c if per == "channel" else 0]
        gate = 1 / (1 + exp(-float(row @ X[b, i])))
        close(gated[b, h, i, c], plain[b, h, i, c] * gate)


@pytest.mark.parametrize(
    "name, kernel",
    [
        ("nope", kernels.fused),
        ("softmax-1", kernels.fused),
        ("alibi", kernels.strided),
        ("cope", kernels.masked),
        ("xpos", kernels.explicit),
        ("linear-rope", kernels.owned),
        ("stick-breaking", kernels.explicit),
    ],
)
@torch.no_grad()
def test_it_acts_after_every_kernel(name, kernel):
    beside, gate = moved(scheme(name, SHAPE)), moved(OutputGate(SHAPE))
    s, (q, k, v) = Stack(SHAPE, [gate, beside]), qkv(SHAPE, T)
    here = at(s, T, 0, X)
    assert kernels.kernel(s, here) is kernel
    close(kernels.attention(s, q, k, v, here), gate.gate(beside.attend(q, k, v, here), here))


@torch.no_grad()
def test_two_gates_multiply_and_one_may_act_in_some_layers():
    a, b = moved(OutputGate(SHAPE)), moved(OutputGate(SHAPE, "head"))
    both, (o, _, _) = Stack(SHAPE, [a, b, Only(SHAPE, a, [1])]), qkv(SHAPE, T)
    for layer in (0, 1):
        here = at(both, T, layer, X)
        factor = a.gate(torch.ones_like(o), here) * b.gate(torch.ones_like(o), here)
        factor = factor * a.gate(torch.ones_like(o), here) if layer else factor
        close(both.gate(o, here), o * factor)
