"""Dual chunk attention and STRING: their defaults, and that far texts meet trained distances alone.
The maps are tested in tests/model/test_distance_maps.py.
"""

import torch

from extrap.extensions.dual_chunk import DualChunkAttention
from extrap.extensions.shifted_positions import STRING
from extrap.model.distance_maps import DualChunk, Shifted
from extrap.model.scheme import Shape
from extrap.schemes.rope import RoPE
from tests.support.scheme_case import at, close, qkv

SHAPE = Shape(dim=16, heads=2, layers=1, length=64)


def test_defaults_follow_the_training_length():
    s = DualChunkAttention().map(RoPE(SHAPE))
    assert isinstance(s, DualChunk) and (s.farthest, s.chunk) == (48, 44)
    s = STRING().map(RoPE(SHAPE))
    assert isinstance(s, Shifted) and (s.width, s.local) == (21, 4)


@torch.no_grad()
def test_keys_of_a_far_text_are_met_at_trained_distances():
    """Equal queries and keys: weights of 500 tokens are made of the scores at distances below c."""
    s, T = DualChunkAttention().map(RoPE(SHAPE)), 500
    one = torch.ones(1, 2, T, 8, dtype=torch.float64)
    place = at(s, T)
    rope = RoPE(SHAPE)
    known = rope.score(*rope.rotate(one[:, :, :49], one[:, :, :49], at(rope, 49)), at(rope, 49))
    scores = s.score(*s.rotate(one, one, place), place)[0, 0, -1]
    trained = known[0, 0, -1]
    assert (scores[:, None] - trained).abs().amin(-1).max() < 1e-12


@torch.no_grad()
def test_short_texts_of_one_chunk_are_left_alone():
    s, rope = DualChunkAttention().map(RoPE(SHAPE)), RoPE(SHAPE)
    q, k, v = qkv(SHAPE, 44)
    close(s.attend(q, k, v, at(s, 44)), rope.attend(q, k, v, at(rope, 44)))
