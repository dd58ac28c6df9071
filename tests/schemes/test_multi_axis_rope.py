"""Multi-axis RoPE against the axial form of rotary-embedding-torch and the score in phases."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.scheme import Shape
from extrap.schemes.multi_axis_rope import MultiAxisRoPE
from tests.support.explicit_phase import logits
from tests.support.scheme_case import at, close, qkv, scores


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
    close(scores(s, q, k, at(s, t)), expected, 1e-9)
