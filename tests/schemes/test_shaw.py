"""Shaw against wav2vec2-bert's keys and the paper's sums as loops."""

from types import SimpleNamespace

import pytest
import torch

from extrap.model.scheme import Shape
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
