"""HWFA as its YAML builds it: how far its windows reach, and what the last layer is."""

import pytest
import torch

from extrap.model.gpt import GPT
from extrap.model.scheme import Shape
from extrap.schemes.rope import RoPE
from tests.support.discover import scheme
from tests.support.scheme_case import around


def model(layers: int, length: int = 24) -> GPT:
    shape = Shape(dim=16, heads=2, layers=layers, length=length, vocab=30)
    return around(scheme("hwfa", shape))


def of_last_layer(m: GPT, x: torch.Tensor) -> torch.Tensor:
    """(T, C) what the last layer is given."""
    states: list[torch.Tensor] = []
    m.hidden(x, states)
    return states[-2][0]


@pytest.mark.parametrize("layers, reach", [(2, 17), (3, 16), (4, 15)])
@torch.no_grad()
def test_the_last_layer_is_given_nothing_from_beyond_the_windows(layers, reach):
    """reach = (W - 1)(layers - 1), W the window of 0.75 * 24 tokens in all."""
    m, x = model(layers), torch.randint(30, (1, 48), generator=torch.Generator().manual_seed(0))
    y = x.clone()
    y[0, 10] = (y[0, 10] + 1) % 30
    a, b = (of_last_layer(m, z) for z in (x, y))
    changed = (a - b).abs().amax(-1) > 0
    assert changed.nonzero().flatten().tolist() == list(range(10, 10 + reach + 1))
    assert ((m(x) - m(y)).abs().amax(-1) > 0)[0, 10:].all()


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
