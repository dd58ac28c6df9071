"""HoPE: which pairs turn, as published, and that no angle past the training length is new."""

from math import pi

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.hope import HoPE
from extrap.schemes.rope import RoPE


def scheme(D: int, length: int, turns: float = 1.0) -> HoPE:
    return HoPE(Shape(dim=2 * D, heads=2, length=length), turns=turns)


@pytest.mark.parametrize("D, length, kept", [(64, 2048, 21), (64, 256, 13), (32, 128, 6)])
def test_published_number_of_turning_pairs(D, length, kept):
    theta, rope = scheme(D, length).spectrum(length), RoPE(Shape(2 * D, 2)).spectrum(length)
    assert torch.equal(theta[:kept], rope[:kept]) and not theta[kept:].any()


def test_the_cut_follows_the_training_length_not_the_text():
    s = scheme(64, 256)
    assert torch.equal(s.spectrum(10), s.spectrum(10**6))
    assert float(s.spectrum(1)[s.spectrum(1) > 0].min()) * 256 >= 2 * pi


@pytest.mark.parametrize("turns, kept", [(0.0, 16), (1.0, 6), (3.0, 4), (1e9, 0)])
def test_the_rule_is_a_parameter(turns, kept):
    assert int((scheme(32, 128, turns).spectrum(1) > 0).sum()) == kept
