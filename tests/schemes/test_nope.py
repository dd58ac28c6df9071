"""Without positions only the causal mask tells order. SCHEMES.md P0."""

import pytest
import torch

from extrap.model.scheme import Shape, Where
from extrap.schemes.nope import NoPE
from tests.support.scheme_case import around


@pytest.mark.parametrize("layers", [1, 2, 4])
@torch.no_grad()
def test_a_repeated_token_gives_equal_rows_at_every_depth(layers):
    h = around(NoPE(Shape(32, 4, layers))).hidden(torch.full((1, 33), 7))
    torch.testing.assert_close(h, h[:, :1].expand_as(h), atol=1e-12, rtol=0)


def test_without_the_mask_attention_is_permutation_equivariant():
    q, k, v = torch.randn(
        3, 2, 4, 15, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    order = torch.randperm(15, generator=torch.Generator().manual_seed(1))
    scheme = NoPE(Shape(32, 4))
    for causal, equal in ((False, True), (True, False)):
        at = Where.whole(torch.arange(15, dtype=torch.float64), scheme.scale, causal=causal)
        a = scheme.attend(q, k, v, at)[:, :, order]
        b = scheme.attend(q[:, :, order], k[:, :, order], v[:, :, order], at)
        assert torch.allclose(a, b, atol=1e-13, rtol=0) is equal
