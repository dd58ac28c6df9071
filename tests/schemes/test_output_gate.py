"""The gate against the paper's formula as a loop, beside every kernel."""

from math import exp

import pytest
import torch

from extrap.model import attention as kernels
from extrap.model.scheme import Shape
from extrap.schemes.output_gate import OutputGate
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
