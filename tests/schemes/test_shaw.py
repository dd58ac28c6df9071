"""Shaw against wav2vec2-bert's keys, the paper's sums as loops, and what equal tables
must do.
"""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.scheme import Scheme, Shape
from extrap.schemes.shaw import Shaw
from tests.support.scheme_case import at, close, lower, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


@pytest.mark.parametrize(
    "clip, T, heads, width", [(1, 5, 1, 4), (3, 9, 2, 6), (16, 12, 3, 8), (7, 40, 4, 2)]
)
def test_keys_equal_wav2vec2_bert(clip, T, heads, width):
    from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import (
        _apply_relative_key_position_encoding,
    )

    shape = Shape(dim=heads * width, heads=heads, layers=2, length=32)
    s = Shaw(shape, clip)
    q, k, _ = qkv(shape, T, dtype=torch.float32)
    table = torch.nn.Embedding(clip + 1, width)
    table.weight.data = s.keys[1].data.flip(0)  # theirs is indexed by j - i
    oracle = SimpleNamespace(
        left_max_position_embeddings=clip,
        right_max_position_embeddings=0,
        distance_embedding=table,
        scaling=width**-0.5,
    )
    theirs = _apply_relative_key_position_encoding(oracle, q, k)[1]
    close(s.bias(q, k, at(s, T, layer=1))[..., lower(T)], theirs[..., lower(T)], 1e-5)


@torch.no_grad()
def test_the_papers_sums():
    s, T = moved(Shaw(SHAPE, clip=3)), 9
    q, k, v = qkv(SHAPE, T)
    ours = s.attend(q, k, v, at(s, T, layer=1))
    for h in range(2):
        for i in range(T):
            r = [min(i - j, 3) for j in range(i + 1)]
            e = torch.stack(
                [q[0, h, i] @ (k[0, h, j] + s.keys[1, r[j]]) / 6**0.5 for j in range(i + 1)]
            )
            a = e.softmax(0)
            close(ours[0, h, i], sum(a[j] * (v[0, h, j] + s.values[1, r[j]]) for j in range(i + 1)))


@torch.no_grad()
def test_tables_without_distance_are_nope():
    s, T = moved(Shaw(SHAPE)), 11
    q, k, v = qkv(SHAPE, T)
    nope = Scheme(SHAPE).attend(q, k, v, at(s, T))
    s.keys[:], s.values[:] = s.keys[:, :1], s.values[:, :1]
    close(s.attend(q, k, v, at(s, T)), nope + s.values[0, 0])
    s.keys.zero_(), s.values.zero_()
    close(s.attend(q, k, v, at(s, T)), nope)


@given(shift=st.floats(-1e4, 1e4), spacing=st.sampled_from([0.25, 1.0, 3.0]))
@settings(max_examples=15, deadline=None)
@torch.no_grad()
def test_only_distances_count(shift, spacing):
    s, T = moved(Shaw(SHAPE)), 11
    t = torch.arange(T, dtype=torch.float64) * spacing
    close(
        s.attend(*qkv(SHAPE, T), at(s, t)), s.attend(*qkv(SHAPE, T), at(s, t + round(shift))), 1e-9
    )


def test_defaults_and_refusals():
    assert Shaw(SHAPE).clip == 8 and Shaw(Shape(dim=4, heads=1, length=512)).clip == 16
    for clip in (0, 32):
        with pytest.raises(ValueError, match=f"clip={clip}: must lie between 1 and 31"):
            Shaw(SHAPE, clip)
