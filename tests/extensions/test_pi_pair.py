"""Interpolation pair by pair."""

import pytest
import torch

from extrap.extensions.interpolation import Interpolation
from extrap.extensions.pi_pair import PairInterpolation
from extrap.model.scheme import Shape
from extrap.model.spectrum import pairs
from extrap.schemes.multi_axis_rope import MultiAxisRoPE
from tests.support.extension_case import rope, row, theta

THETA = (1, 0.1, 0.01, 0.001)


@pytest.mark.parametrize("pair", range(4))
def test_one_pair_is_slowed_and_no_other(pair):
    expected = [t / 4 if p == pair else t for p, t in enumerate(THETA)]
    torch.testing.assert_close(
        theta(PairInterpolation(4.0, pair), rope()), row(*expected), atol=1e-15, rtol=0
    )


def test_all_pairs_are_interpolation():
    torch.testing.assert_close(
        theta(PairInterpolation(4.0, None), rope()),
        theta(Interpolation(4.0), rope()),
        atol=1e-15,
        rtol=0,
    )


def test_every_axis_has_its_own_pairs():
    scheme = MultiAxisRoPE(Shape(dim=16, heads=2, layers=1, length=64, vocab=50))
    trained = pairs(scheme)
    slowed = PairInterpolation(2.0, 1).theta(trained, 2.0) != trained.theta
    assert slowed.tolist() == [False, True] * (len(slowed) // 2)
