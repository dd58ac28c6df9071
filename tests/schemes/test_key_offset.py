"""Partial key offset: the loop of modded-nanogpt, and a layer that copies in one step."""

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.key_offset import KeyOffset
from extrap.schemes.partial_rope import PartialRoPE
from tests.support.discover import scheme
from tests.support.scheme_case import at, close, qkv

SHAPE = Shape(dim=16, heads=2, length=8)


@pytest.mark.parametrize("share, own", [(0.5, 4), (0.25, 6), (1.0, 0), (0.0, 8)])
def test_the_last_channels_come_from_the_token_before(share, own):
    s = KeyOffset(SHAPE, share)
    q, k, _ = qkv(SHAPE, 6)
    same, found = s.rotate(q, k, at(s, 6))
    expected = k.clone()
    for t in range(1, 6):
        expected[:, :, t, own:] = k[:, :, t - 1, own:]
    assert torch.equal(same, q) and torch.equal(found, expected)


def test_the_channels_that_turn_are_keys_of_their_own_token():
    s = scheme("partial-key-offset", SHAPE)
    q, k, _ = qkv(SHAPE, 6)
    rope = PartialRoPE(SHAPE)
    _, found = s.rotate(q, k, at(s, 6))
    _, turned = rope.rotate(q, k, at(rope, 6))
    close(found[..., :4], turned[..., :4], 1e-12)
    assert torch.equal(found[:, :, 1:, 4:], k[:, :, :-1, 4:])


def test_a_query_finds_what_followed_its_own_token():
    """One head, one-hot tokens d a b c a: the last a reads b, one layer deep."""
    s = KeyOffset(Shape(dim=8, heads=1, length=5), 1.0)
    x = torch.eye(8, dtype=torch.float64)[[3, 0, 1, 2, 0]][None, None]
    o = s.attend(20 * x, x, x, at(s, 5))
    assert int(o[0, 0, -1].argmax()) == 1
