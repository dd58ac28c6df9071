"""Multi-axis RoPE against the axial form of rotary-embedding-torch, the score in phases, and its
one-axis case.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.scheme import Shape
from extrap.schemes.multi_axis_rope import MultiAxisRoPE
from extrap.schemes.rope import RoPE
from tests.support.explicit_phase import logits
from tests.support.scheme_case import at, close, qkv, weights


def scheme(D: int = 8, axes: int = 2, width: int | None = 5, **more) -> MultiAxisRoPE:
    return MultiAxisRoPE(Shape(dim=2 * D, heads=2), axes=axes, width=width, **more)


@pytest.mark.parametrize("D, sizes", [(8, (4, 5)), (32, (7, 6)), (24, (2, 4, 4))])
def test_equals_axial_frequencies(D, sizes):
    """Tokens read line by line fill the grid."""
    from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

    s = scheme(D, len(sizes), sizes[-1])
    T = torch.Size(sizes).numel()
    q, k, _ = qkv(s.shape, T, dtype=torch.float32)
    freqs = (
        RotaryEmbedding(D // len(sizes), freqs_for="lang")
        .get_axial_freqs(*sizes)
        .flatten(0, -2)
        .detach()
    )
    for ours, x in zip(s.rotate(q, k, at(s, T)), (q, k), strict=True):
        close(ours, apply_rotary_emb(freqs, x), 1e-5)


def test_width_four_has_one_frequency_for_both_axes():
    """R_{x, y} = diag(R(x), R(y))."""
    s = scheme(4, width=3)
    assert s.spectrum(1).tolist() == [1, 1]
    x = torch.tensor([1.0, 0, 1, 0], dtype=torch.float64).expand(1, 2, 8, 4)
    line, column = torch.tensor(7 // 3).double(), torch.tensor(7 % 3).double()
    close(
        s.rotate(x, x, at(s, 8))[0][0, 0, 7],
        torch.stack([line.cos(), line.sin(), column.cos(), column.sin()]),
    )


@given(
    t=st.lists(st.floats(0, 1e4), min_size=2, max_size=5),
    width=st.integers(2, 50),
    layout=st.sampled_from(["interleaved", "half"]),
)
@settings(max_examples=15, deadline=None)
def test_the_score_knows_differences_of_coordinates_alone(t, width, layout):
    s, t = scheme(8, 2, width, layout=layout), torch.tensor(sorted(t), dtype=torch.float64)
    q, k, _ = qkv(s.shape, len(t))
    line, column = s.coordinates(t)
    close(line * width + column, t, 1e-9)
    assert torch.equal(line, line.round())
    distance = torch.stack([line[:, None] - line] * 2 + [column[:, None] - column] * 2, -1)
    order = torch.arange(8) if layout == "interleaved" else torch.arange(8).view(2, 4).T.flatten()
    expected = logits(q[..., order], k[..., order], distance, s.spectrum(len(t))) * s.scale
    close(s.score(*s.rotate(q, k, at(s, t)), at(s, t)), expected, 1e-9)


def test_a_shift_by_whole_lines_is_not_felt():
    s, t = scheme(), torch.arange(12, dtype=torch.float64)
    q, k, _ = qkv(s.shape, 12)
    a = weights(s, q, k, at(s, t))
    close(a, weights(s, q, k, at(s, t + 35)), 1e-10)
    assert not torch.allclose(a, weights(s, q, k, at(s, t + 1)))


def test_one_axis_is_rope_and_equal_coordinates_on_two_are_not():
    s, rope = scheme(8, 1), RoPE(Shape(16, 2))
    q, k, _ = qkv(s.shape, 9)
    close(weights(s, q, k, at(s, 9)), weights(rope, q, k, at(rope, 9)))
    assert not torch.allclose(scheme().spectrum(1), rope.spectrum(1))


def test_default_width():
    assert (
        scheme(width=None).width == 8 and MultiAxisRoPE(Shape(24, 2, length=64), axes=3).width == 4
    )


@pytest.mark.parametrize(
    "options, match", [({"axes": 3}, "axes=3"), ({"axes": 0}, "axes=0"), ({"width": 1}, "width=1")]
)
def test_refusals(options, match):
    with pytest.raises(ValueError, match=match):
        scheme(8, **options)
