"""Training under a bias of distance that learns: the definition, in memory linear in the length."""

from warnings import catch_warnings

import pytest
import torch

from extrap.model import attention as kernels
from extrap.model import learned_bias
from extrap.model.learned_bias import LearnedBias
from extrap.model.scheme import Scheme, Shape
from tests.support.discover import names, scheme
from tests.support.largest import Largest
from tests.support.scheme_case import at, moved, qkv

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:extrap")
SHAPE = Shape(dim=32, heads=4, layers=2, length=64)


def learned() -> list[str]:
    """Schemes whose training is on this path: a bias of distance with parameters."""
    found = []
    for name in names("scheme"):
        with catch_warnings(action="ignore"):
            s = scheme(name, SHAPE)
        strided = kernels.kernel(s, at(s, 4)) is kernels.strided
        b = s.distance_bias(torch.arange(4.0, dtype=torch.float64), 0) if strided else None
        if b is not None and b.requires_grad:
            found.append(name)
    return found


def step(s: Scheme, attend, T: int, batch: int, dtype: torch.dtype) -> list[torch.Tensor]:
    """Output and gradients."""
    leaves = [z.to(dtype).requires_grad_() for z in qkv(SHAPE, T, batch=batch)]
    s.zero_grad()
    o = attend(*leaves, at(s, T))
    o.backward(qkv(SHAPE, T, seed=3, batch=batch)[0].to(dtype))
    own = [p.grad.clone() for p in s.parameters() if p.grad is not None]
    return [o.detach(), *(z.grad for z in leaves), *own]


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", learned())
@pytest.mark.parametrize("block", [1, 3000, 2**19])
@pytest.mark.parametrize("T, batch", [(1, 2), (7, 2), (300, 2), (600, 1)])
def test_equals_the_definition(monkeypatch, name, block, T, batch):
    """T = 300 and 600 cross the borders of blocks, forward (256 rows) and backward."""
    monkeypatch.setattr(learned_bias, "BLOCK", block)
    s = moved(scheme(name, SHAPE))
    exact = step(s, s.attend, T, batch, torch.float64)
    fast = step(s, lambda *a: kernels.attention(s, *a), T, batch, torch.float64)
    assert len(fast) == len(exact) > 4
    for a, b in zip(exact, fast, strict=True):
        torch.testing.assert_close(b, a, rtol=1e-10, atol=1e-11)
    low = step(s.float(), lambda *a: kernels.attention(s, *a), T, batch, torch.float32)
    for a, b in zip(exact, low, strict=True):
        assert float((b - a).abs().max()) <= 1e-5 * float(a.abs().max()) + 1e-6


def test_some_schemes_are_on_this_path():
    assert {"t5", "kerple-log", "kerple-power"} <= set(learned())
    assert "alibi" not in learned()


@pytest.mark.parametrize("name", learned())
def test_memory_of_a_step_grows_linearly(monkeypatch, name):
    """What is kept for the backward, and the largest tensor on the way: 4 times the length, no more
    than 4.5 times the bytes.
    """
    monkeypatch.setattr(kernels, "ROWS", 16)
    monkeypatch.setattr(learned_bias, "BLOCK", 2**14)
    s, peak, kept = scheme(name, SHAPE), [], []
    for T in (256, 1024):
        bytes_kept: dict[int, int] = {}

        def keep(t: torch.Tensor, into=bytes_kept) -> torch.Tensor:
            into[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
            return t

        with Largest() as largest, torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
            step(s, lambda *a: kernels.attention(s, *a), T, 1, torch.float32)
        peak.append(largest.bytes)
        kept.append(sum(bytes_kept.values()))
    assert peak[1] <= 4.5 * peak[0]
    assert kept[1] <= 4.5 * kept[0]


def test_a_bias_that_does_not_learn_is_left_to_the_fused_kernel(monkeypatch):
    def never(*args):
        raise AssertionError

    monkeypatch.setattr(LearnedBias, "apply", never)
    t5, alibi = scheme("t5", SHAPE), scheme("alibi", SHAPE)
    step(alibi, lambda *a: kernels.attention(alibi, *a), 20, 1, torch.float32)
    with torch.no_grad():
        kernels.attention(t5, *qkv(SHAPE, 20, dtype=torch.float32), at(t5, 20))
    kernels.attention(t5, *qkv(SHAPE, 20, dtype=torch.bfloat16), at(t5, 20))
    with pytest.raises(AssertionError):
        step(t5, lambda *a: kernels.attention(t5, *a), 20, 1, torch.float32)


def test_groups_of_keys_get_the_gradients_of_their_heads():
    t5 = moved(scheme("t5", SHAPE))
    grads = []
    for attend in (kernels.explicit, kernels.attention):
        q, k, v = qkv(SHAPE, 300)
        leaves = [z.clone().requires_grad_() for z in (q, k[:, :2], v[:, :2])]
        t5.zero_grad()
        attend(t5, *leaves, at(t5, 300)).square().sum().backward()
        grads.append([*(z.grad for z in leaves), t5.table.grad.clone()])
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(b, a, rtol=1e-9, atol=1e-10)
