"""RoPE-ID: its grid, and that no text shows an angle that training did not."""

from math import pi

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.model.spectrum import turns
from extrap.schemes.rope_id import RoPEID

SHAPE = Shape(dim=32, heads=2, layers=1, length=100)


def test_the_first_pair_turns_by_one_and_the_last_r_times_within_the_training_length():
    for r in (1.0, 3.0):
        theta = RoPEID(SHAPE, turns=r).spectrum(7)
        assert len(theta) == 4
        expected = [(2 * pi * r / 100) ** (p / 3) for p in range(4)]
        assert theta.tolist() == pytest.approx(expected)
    assert turns(RoPEID(SHAPE), 100).min() == pytest.approx(1)


def test_every_angle_of_a_long_text_was_met_in_training():
    """The circle is cut into arcs of 1/20: those of 5000 tokens are those of the first L."""
    angle = torch.arange(5000)[:, None] * RoPEID(SHAPE).spectrum(0) % (2 * pi)
    arcs = (angle / (2 * pi) * 20).long()
    for pair in arcs.T:
        assert set(pair.tolist()) == set(pair[:100].tolist())
    slow = torch.arange(5000) * 1e-4 ** (3 / 4) % (2 * pi)  # RoPE's own last of four pairs
    assert slow[100:].max() > 2 * slow[:100].max()
