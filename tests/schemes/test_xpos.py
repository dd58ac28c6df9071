"""xPos against x-transformers and the score in phases; finite far out in any dtype."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.scheme import Shape
from extrap.schemes.xpos import XPos
from tests.support.explicit_phase import between, inner
from tests.support.scheme_case import at, close, lower, qkv, scores


def scheme(D: int = 8, **options) -> XPos:
    return XPos(Shape(dim=2 * D, heads=2), **options)


@pytest.mark.parametrize("D, T", [(4, 1), (8, 17), (64, 60)])
@torch.no_grad()
def test_equals_x_transformers(D, T):
    from tests.support.oracles import RotaryEmbedding, apply_rotary_pos_emb

    s = scheme(D)
    q, k, _ = qkv(s.shape, T, dtype=torch.float32)
    freqs, scale = RotaryEmbedding(D, use_xpos=True)(torch.arange(T))
    of_q, of_k = (apply_rotary_pos_emb(z, freqs, scale**n) for z, n in ((q, 1), (k, -1)))
    theirs = of_q @ of_k.transpose(-1, -2) * s.scale
    close(scores(s, q, k, at(s, T))[..., lower(T)], theirs[..., lower(T)], 1e-5)


@given(
    t=st.lists(st.floats(0, 5e3), min_size=2, max_size=6),
    layout=st.sampled_from(["interleaved", "half"]),
)
@settings(max_examples=15, deadline=None)
def test_score_in_phases_with_fading(t, layout):
    s, t = scheme(8, layout=layout), torch.tensor(sorted(t), dtype=torch.float64)
    q, k, _ = qkv(s.shape, len(t))
    order = torch.arange(8) if layout == "interleaved" else torch.arange(8).view(2, 4).T.flatten()
    zeta = (2 * torch.arange(4, dtype=torch.float64) / 8 + 0.4) / 1.4
    pairs = inner(q[..., order], k[..., order], between(t), s.spectrum(len(t)))
    expected = (pairs * zeta ** (between(t).clamp(min=0)[..., None] / 512)).sum(-1) * s.scale
    mask = lower(len(t))
    close(scores(s, q, k, at(s, t))[..., mask], expected[..., mask], 1e-9)


@pytest.mark.parametrize(
    "dtype, tolerance",
    [(torch.float64, 1e-8), (torch.float32, 1e-4), (torch.bfloat16, 0.05), (torch.float16, 0.01)],
)
@pytest.mark.parametrize("start", [5e3, 4e4, 1e6])
def test_positions_at_which_a_factor_of_its_own_overflows(dtype, tolerance, start):
    s = scheme()
    q, k, v = (x.to(dtype) for x in qkv(s.shape, 30))
    t = torch.arange(30, dtype=torch.float64)
    far, near = s.attend(q, k, v, at(s, t + start)), s.attend(q, k, v, at(s, t))
    assert far.dtype == dtype
    close(far.double(), near.double(), tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_coordinates_with_wide_gaps(dtype):
    """A single block of rows that spans a million positions: each query is left with itself."""
    s = scheme()
    q, k, v = qkv(s.shape, 6, dtype=dtype)
    o = s.attend(q, k, v, at(s, torch.arange(6, dtype=torch.float64) * 2e5))
    assert o.isfinite().all()
