"""HoPE: which pairs turn, as published."""

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.hope import HoPE
from extrap.schemes.rope import RoPE


@pytest.mark.parametrize(
    "D, length, turns, kept",
    [
        *((64, 2048, 1.0, 21), (64, 256, 1.0, 13), (32, 128, 1.0, 6)),
        *((32, 128, 0.0, 16), (32, 128, 3.0, 4), (32, 128, 1e9, 0)),
    ],
)
def test_number_of_turning_pairs(D, length, turns, kept):
    """That of the paper at one turn; it follows the training length, not the text."""
    scheme = HoPE(Shape(dim=2 * D, heads=2, length=length), turns=turns)
    rope = RoPE(Shape(2 * D, 2)).spectrum(length)
    for T in (1, length, 10**6):
        theta = scheme.spectrum(T)
        assert torch.equal(theta[:kept], rope[:kept]) and not theta[kept:].any()
