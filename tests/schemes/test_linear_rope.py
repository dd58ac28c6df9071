"""RoPE in linear attention against the quadratic form."""

import pytest
import torch
import torch.nn.functional as F

from extrap.model.scheme import Shape, Where
from extrap.schemes.linear_rope import EPS, CosineLinearRoPE, LinearAttention, LinearRoPE
from extrap.schemes.rope import RoPE
from tests.support.scheme_case import at, close, lower, qkv

SHAPE = Shape(dim=16, heads=2)
BOTH = [LinearRoPE, CosineLinearRoPE]


def quadratic(s: LinearAttention, q, k, v, place: Where) -> torch.Tensor:
    """The same formula with the whole (T, T) matrix."""
    rope, T = RoPE(s.shape, s.base, s.layout), q.shape[2]
    rope.spectrum = s.spectrum
    if isinstance(s, LinearRoPE):
        q, k = F.elu(q) + 1, F.elu(k) + 1
        below = (q @ k.transpose(-1, -2)).masked_fill(~lower(T), 0).sum(-1, keepdim=True)
        q, k = rope.rotate(q, k, place)
        above = q @ k.transpose(-1, -2)
    else:
        q, k = rope.rotate(
            q / q.norm(dim=-1, keepdim=True), k / k.norm(dim=-1, keepdim=True), place
        )
        above = 1 + EPS + q @ k.transpose(-1, -2)
        below = above.masked_fill(~lower(T), 0).sum(-1, keepdim=True)
    return (above / below).masked_fill(~lower(T), 0) @ v


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("T", [1, 64, 65, 150])
def test_running_sums_equal_the_quadratic_form(cls, layout, T):
    s = cls(SHAPE, layout=layout)
    leaves = [x.requires_grad_() for x in qkv(SHAPE, T)]
    place = at(s, torch.arange(T, dtype=torch.float64) * 1.5 + 3)
    ours, plain = s.attend(*leaves, place), quadratic(s, *leaves, place)
    close(ours, plain, 1e-11)
    for a, b in zip(
        *(torch.autograd.grad(o.square().sum(), leaves) for o in (ours, plain)), strict=True
    ):
        close(a, b, 1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("cls", BOTH)
def test_nothing_divides_by_zero(cls, dtype):
    """Features of channels far below zero stay positive; a first key opposite to its query still
    has all of the weight.
    """
    s = cls(SHAPE)
    q = torch.full((1, 2, 70, 8), -40.0, dtype=dtype)
    k = q if cls is LinearRoPE else -q
    v = torch.randn(1, 2, 70, 8).to(dtype)
    o = s.attend(q, k, v, at(s, 70))
    assert o.dtype == dtype and o.isfinite().all()
    close(o[:, :, 0], v[:, :, 0], 1e-2)
