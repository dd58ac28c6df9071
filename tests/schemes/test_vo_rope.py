"""VO-RoPE against a double loop."""

import pytest
import torch

from extrap.model.scheme import Shape
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
