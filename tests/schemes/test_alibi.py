"""ALiBi against x-transformers, for any number of heads."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.scheme import Shape
from extrap.schemes.alibi import ALiBi, alibi_slopes
from tests.support.scheme_case import close, lower


def scheme(heads: int, slopes: list[float] | None = None) -> ALiBi:
    return ALiBi(Shape(dim=4 * heads, heads=heads), slopes)


def bias(s: ALiBi, T: int) -> torch.Tensor:
    n = torch.arange(T, dtype=torch.float64)
    return s.distance_bias((n[:, None] - n).clamp(min=0), 0)


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 8, 12, 20])
@pytest.mark.parametrize("T", [1, 7, 64])
def test_equals_x_transformers(heads, T):
    from tests.support.oracles import AlibiPositionalBias

    ours = bias(scheme(heads), T).float()
    theirs = AlibiPositionalBias(heads)(T, T)
    close(ours[:, lower(T)], theirs[:, lower(T)], 1e-5)


@given(d=st.lists(st.floats(0, 1e7), min_size=1, max_size=5), heads=st.integers(1, 33))
@settings(max_examples=15, deadline=None)
def test_linear_in_any_distance(d, heads):
    s, d = scheme(heads), torch.tensor(d, dtype=torch.float64)
    close(
        s.distance_bias(d, 0), -torch.tensor(alibi_slopes(heads), dtype=torch.float64)[:, None] * d
    )
