"""VO-RoPE against a double loop; relative only because the output turns back."""

import pytest
import torch

from extrap.model.scheme import Scheme, Shape
from extrap.model.stack import Stack
from extrap.schemes.rope import RoPE
from extrap.schemes.vo_rope import VORoPE
from tests.support.scheme_case import at, close, qkv, weights

SHAPE = Shape(dim=16, heads=2)


def stack(shape: Shape, **options) -> Stack:
    return Stack(shape, [RoPE(shape, **options), VORoPE(shape, **options)])


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_equals_a_double_loop(layout):
    """o_i = sum_j A_ij R_{j - i} v_j, one rotation per pair of tokens."""
    s, T = stack(SHAPE, layout=layout), 7
    q, k, v = qkv(SHAPE, T)
    a, rope, t = (
        weights(s.parts[0], q, k, at(s, T)),
        RoPE(SHAPE, layout=layout),
        torch.zeros(1, dtype=torch.float64),
    )
    o = torch.zeros_like(v)
    for i in range(T):
        for j in range(i + 1):
            turned = rope.rotate(v[:, :, j : j + 1], v[:, :, j : j + 1], at(rope, t + j - i))[0]
            o[:, :, i] += a[:, :, i, j, None] * turned[:, :, 0]
    close(s.attend(q, k, v, at(s, T)), o, 1e-12)


def test_does_not_feel_a_shift_although_values_do():
    s, t = stack(SHAPE), torch.arange(9, dtype=torch.float64)
    q, k, v = qkv(SHAPE, 9)
    close(s.attend(q, k, v, at(s, t)), s.attend(q, k, v, at(s, t + 1000)), 1e-10)


def test_stands_still_where_no_pair_turns():
    s = VORoPE(SHAPE)
    s.spectrum = lambda n: torch.zeros(4, dtype=torch.float64)
    q, k, v = qkv(SHAPE, 9)
    close(s.attend(q, k, v, at(s, 9)), Scheme(SHAPE).attend(q, k, v, at(s, 9)))


def test_refusals():
    with pytest.raises(ValueError, match="5 channels"):
        VORoPE(Shape(10, 2))
    with pytest.raises(ValueError, match="base=0"):
        VORoPE(SHAPE, base=0.5)
    with pytest.raises(ValueError, match="layout="):
        VORoPE(SHAPE, layout=[1, 2])
