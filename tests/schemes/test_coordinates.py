"""Relative schemes and TUPE at coordinates other than 0, 1, 2, ...: randomised, interpolated, and
in blocks of rows.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.attention import explicit, masked
from extrap.model.scheme import Scheme, Shape
from tests.support.discover import scheme
from tests.support.scheme_case import at, close, moved, qkv

SHAPE = Shape(dim=16, heads=2, layers=2, length=64)
NAMES = [
    "alibi",
    "cope",
    "deberta",
    "fire",
    "forgetting",
    "kerple-log",
    "kerple-power",
    "sandwich",
    "shaw",
    "t5",
    "t5-urpe",
]
NAMES += ["transformer-xl", "tupe-a", "tupe-r", "urpe", "xlnet"]


def inputs(T: int) -> torch.Tensor:
    return torch.randn(
        2, T, SHAPE.dim, generator=torch.Generator().manual_seed(2), dtype=torch.float64
    )


def attended(s: Scheme, t: torch.Tensor, known_even: bool) -> torch.Tensor:
    place = at(s, t, layer=1, x=inputs(len(t)))
    return s.attend(*qkv(SHAPE, len(t)), place if known_even else place.moved(t, t, "as if uneven"))


@pytest.mark.parametrize("name", NAMES)
@given(gaps=st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0]), min_size=1, max_size=15))
@settings(max_examples=8, deadline=None)
@torch.no_grad()
def test_blocks_of_rows_equal_the_whole_at_uneven_coordinates(name, gaps):
    s = moved(scheme(name, SHAPE), 0.3)
    t = torch.tensor([0.0, *gaps], dtype=torch.float64).cumsum(0)
    whole = attended(s, t, known_even=True)
    place = at(s, t, layer=1, x=inputs(len(t)))
    blocks = [place.block(n, n + 1) for n in range(len(t))]
    q, k, v = s.rotate(*qkv(SHAPE, len(t))[:2], place) + qkv(SHAPE, len(t))[2:]
    rows = [
        Scheme.attend(s, q[:, :, n : n + 1], k[:, :, : n + 1], v[:, :, : n + 1], here)
        for n, here in enumerate(blocks)
    ]
    close(torch.cat(rows, 2), whole, 1e-10)
    close(explicit(s, *qkv(SHAPE, len(t)), place), whole, 1e-10)
    if not s.uses("mix"):
        close(masked(s, *qkv(SHAPE, len(t)), place), whole, 1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("spacing", [1.0, 0.25, 0.1])
@torch.no_grad()
def test_even_coordinates_need_not_be_known_to_be_even(name, spacing):
    s, t = moved(scheme(name, SHAPE), 0.3), torch.arange(20, dtype=torch.float64) * spacing
    close(attended(s, t, known_even=True), attended(s, t, known_even=False), 1e-9)
