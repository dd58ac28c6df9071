"""Random float positions: their range at every length, and what is drawn when."""

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.model.stack import Stack
from extrap.schemes.alibi import ALiBi
from extrap.schemes.random_floats import RandomFloats

SHAPE = Shape(16, 2, length=8)


def plain(n: int) -> torch.Tensor:
    return torch.arange(n, dtype=torch.float64)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("n", [0, 1, 8, 1000])
def test_sorted_reals_of_one_range_at_every_length(n, training):
    t = RandomFloats(SHAPE, 50.0).train(training).positions(plain(n))
    assert t.shape == (n,) and t.dtype == torch.float64
    assert (t >= 0).all() and (t < 50).all() and (t.diff() > 0).all()
    assert not n or not torch.equal(t, t.round())


def test_positions_are_uniform():
    """Order statistic k of n draws has mean M k / (n + 1)."""
    s = RandomFloats(SHAPE).train()
    torch.manual_seed(0)
    means = torch.stack([s.positions(plain(7)) for _ in range(4000)]).mean(0)
    assert means.tolist() == pytest.approx([8 * k / 8 for k in range(1, 8)], abs=0.1)


def test_training_draws_anew_and_a_test_repeats():
    s = RandomFloats(SHAPE)
    assert not torch.equal(s.train().positions(plain(9)), s.positions(plain(9)))
    state = torch.random.get_rng_state()
    once = s.eval().positions(plain(9))
    assert torch.equal(once, s.positions(plain(9)))
    assert torch.equal(state, torch.random.get_rng_state())
    assert not torch.equal(once, s.positions(plain(10))[:9])


def test_other_schemes_read_the_positions():
    part, bias = RandomFloats(SHAPE), ALiBi(SHAPE)
    t = Stack(SHAPE, [part, bias]).eval().positions(plain(5))
    assert torch.equal(t, part.eval().positions(plain(5)))
