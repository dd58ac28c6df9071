"""Inverse Leaky ReRoPE: in training the scores in phases at the stretched distances, at test its
inner scheme and no more.
"""

import pytest
import torch

from extrap.model import attention as kernels
from extrap.model.scheme import Shape
from extrap.schemes.alibi import ALiBi
from extrap.schemes.inverse_leaky import InverseLeaky
from extrap.schemes.rope import RoPE
from tests.support.explicit_phase import logits
from tests.support.scheme_case import at, causal, close, qkv

SHAPE = Shape(dim=16, heads=2, length=16)
T = 16


def test_training_meets_every_distance_of_the_test():
    """w = L / 4 = 4, k = 1 / (2 factor): D(L - 1) = 4 + 11 * 8 = 92 for factor 4, beyond the
    longest distance 63 of the test.
    """
    s, (q, k, v) = InverseLeaky(SHAPE, RoPE(SHAPE), factor=4.0).train(), qkv(SHAPE, T)
    n = at(s, T).distance
    d = torch.where(n < 4, n, 4 + (n - 4) * 8)
    assert d.max() == 92
    expected = causal(logits(q, k, d, RoPE(SHAPE).spectrum(T)) * 8**-0.5) @ v
    close(kernels.attention(s, q, k, v, at(s, T)), expected, 1e-11)


@pytest.mark.parametrize("inner", [RoPE(SHAPE), ALiBi(SHAPE)])
def test_evaluation_is_the_inner_scheme_and_its_kernel(inner):
    s, (q, k, v) = InverseLeaky(SHAPE, inner).eval(), qkv(SHAPE, T)
    here = at(s, T)
    assert kernels.kernel(s, here) is kernels.kernel(inner, here)
    assert torch.equal(kernels.attention(s, q, k, v, here), kernels.attention(inner, q, k, v, here))
    assert not torch.allclose(
        kernels.attention(s.train(), q, k, v, here), kernels.attention(inner, q, k, v, here)
    )
