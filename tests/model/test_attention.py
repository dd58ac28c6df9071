"""Which kernel computes a scheme, and that it is exact where a bias and a sink meet."""

import pytest
import torch

from extrap.model import attention as kernels
from extrap.model.attention import attention, masked, strided
from extrap.model.scheme import Scheme, Shape
from extrap.model.stack import Stack
from extrap.schemes.alibi import ALiBi
from extrap.schemes.kerple import KerplePower
from extrap.schemes.sink import SinkLogit, SoftmaxOne
from extrap.schemes.stick_breaking import StickBreaking
from extrap.schemes.t5 import T5
from tests.support.discover import gpt
from tests.support.largest import Largest
from tests.support.scheme_case import at, moved, qkv

SHAPE = Shape(dim=16, heads=2, layers=1, length=64)


def error(scheme: Scheme, T: int, dtype: torch.dtype) -> float:
    """Greatest error of the kernel in low precision against the definition in float64."""
    q, k, v = qkv(SHAPE, T, dtype=dtype)
    exact = scheme.double().attend(q.double(), k.double(), v.double(), at(scheme, T))
    return float((attention(scheme.to(dtype), q, k, v, at(scheme, T)).double() - exact).abs().max())


@pytest.mark.parametrize("bias", [ALiBi, KerplePower])
@pytest.mark.parametrize("sink", [SoftmaxOne, SinkLogit])
@pytest.mark.parametrize("dtype, most", [(torch.bfloat16, 0.03), (torch.float32, 1e-5)])
@torch.no_grad()
def test_the_sink_is_not_lost_beside_a_bias(bias, sink, dtype, most):
    steep = bias(SHAPE)
    if isinstance(steep, KerplePower):
        steep.raw1.data.fill_(0.5), steep.raw2.data.fill_(2.5)
    both = Stack(SHAPE, [steep, sink(SHAPE)])
    assert kernels.kernel(both, at(both, 4)) is masked
    for T in (40, 1100):
        assert error(both, T, dtype) < most


@pytest.mark.parametrize("constant", [0.0, 40.0, -300.0])
@torch.no_grad()
def test_a_constant_in_a_bias_costs_no_precision(constant):
    """Softmax does not see it, so it is taken off before a cast."""
    t5 = moved(T5(SHAPE, 8, 16)).float()
    t5.table.data += constant
    q, k, v = qkv(SHAPE, 40, dtype=torch.bfloat16)
    exact = moved(T5(SHAPE, 8, 16)).attend(q.double(), k.double(), v.double(), at(t5, 40))
    for kernel in (strided, masked, kernels.explicit):
        assert float((kernel(t5, q, k, v, at(t5, 40)).double() - exact).abs().max()) < 0.03


@pytest.mark.parametrize("other", [SoftmaxOne, StickBreaking])
@torch.no_grad()
def test_a_constant_is_kept_beside_what_sees_it(other):
    t5 = moved(T5(SHAPE, 8, 16))
    both = Stack(SHAPE, [t5, other(SHAPE)])
    q, k, v = qkv(SHAPE, 20)
    before = attention(both, q, k, v, at(both, 20))
    t5.table.data += 3
    assert not torch.allclose(attention(both, q, k, v, at(both, 20)), before)


@pytest.mark.parametrize("name", ["fire", "cope", "forgetting", "shaw", "urpe", "window"])
@torch.no_grad()
def test_a_long_text_is_read_in_fewer_rows_at_a_time(monkeypatch, name):
    """Nothing larger than the MLP's input, or the logits that a block may have."""
    monkeypatch.setitem(kernels.LOGITS, "cpu", 2**16)
    model = gpt(name, dtype=torch.float32)
    with Largest() as largest:
        model(torch.zeros(1, 2048, dtype=torch.long), last=1)
    assert largest.entries <= max(2048 * 4 * 32, 2**16)


def noted(monkeypatch) -> list[tuple[int, int]]:
    """Groups and number of keys of every call of fused attention from now on."""
    found, sdpa = [], kernels._sdpa

    def call(q, k, *rest, **more):
        found.append(tuple(k.shape[1:3]))
        return sdpa(q, k, *rest, **more)

    monkeypatch.setattr(kernels, "_sdpa", call)
    return found


@torch.no_grad()
def test_reading_takes_the_widest_block_first(monkeypatch):
    monkeypatch.setattr(kernels, "ROWS", 8)
    found = noted(monkeypatch)
    gpt("cope", layers=1)(torch.zeros(1, 40, dtype=torch.long))
    assert found == [(4, n) for n in (40, 32, 24, 16, 8)]


@pytest.mark.parametrize("name", ["rope", "alibi", "window"])
@torch.no_grad()
def test_groups_are_never_copied_for_every_head(monkeypatch, name):
    found = noted(monkeypatch)
    gpt(name, kv_heads=1)(torch.zeros(1, 40, dtype=torch.long))
    assert found and {groups for groups, _ in found} == {1}
