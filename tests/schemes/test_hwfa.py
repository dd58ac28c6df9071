"""HWFA as its YAML builds it: how far its windows see, and what the last layer is."""

import torch

from extrap.model.gpt import GPT
from extrap.model.scheme import Shape
from extrap.schemes.rope import RoPE
from tests.support.discover import scheme
from tests.support.scheme_case import around


def model(layers: int, length: int = 24) -> GPT:
    shape = Shape(dim=16, heads=2, layers=layers, length=length, vocab=30)
    return around(scheme("hwfa", shape))


@torch.no_grad()
def test_rope_below_log_n_without_positions_above():
    m = model(3)
    s, q = m.scheme, torch.randn(1, 2, 48, 8, dtype=torch.float64)
    at = m.where(torch.zeros(1, 48, dtype=torch.long))
    for layer in (0, 1):
        here = at.at_layer(layer, None)
        assert s.temperature(here) is None and int(here.count.max()) == 9
        torch.testing.assert_close(s.rotate(q, q, here)[0], RoPE(s.shape).rotate(q, q, here)[0])
    last = at.at_layer(2, None)
    assert s.rotate(q, q, last)[0] is q and int(last.count.max()) == 48
    assert float(s.temperature(last)[23]) == 1 and float(s.temperature(last)[47]) > 1
