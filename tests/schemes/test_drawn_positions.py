"""Randomised, random float and equal-mean positions under other schemes: ranges, and what is drawn
when.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.scheme import OutOfRange, Scheme, Shape
from extrap.schemes.random_floats import RandomFloats
from extrap.schemes.randomised import EqualMeanPositions, RandomisedPositions

SHAPE = Shape(16, 2, layers=2, length=8)
SETTINGS = settings(max_examples=15, deadline=None)


def plain(n: int) -> torch.Tensor:
    return torch.arange(n, dtype=torch.float64)


def randomised(
    maximum: int, test: str = "even", training: bool = False, longest: int | None = None
) -> Scheme:
    return RandomisedPositions(Shape(16, 2, length=1), maximum, test, longest).train(training)


@SETTINGS
@given(
    data=st.data(),
    maximum=st.integers(2, 300),
    mode=st.sampled_from(["train", "even", "stride", "sampled"]),
)
def test_positions_are_whole_strictly_increasing_and_in_range(data, maximum, mode):
    longest = data.draw(st.integers(1, maximum))
    n = data.draw(st.integers(1, longest))
    t = randomised(
        maximum, "even" if mode == "train" else mode, mode == "train", longest
    ).positions(plain(n))
    assert t.shape == (n,) and t.dtype == torch.float64
    assert torch.equal(t, t.floor()) and float(t[0]) >= 0 and float(t[-1]) < maximum
    assert (t.diff() > 0).all()


def test_even_spacing():
    assert randomised(2048).positions(plain(5)).tolist() == [0, 512, 1024, 1535, 2047]
    assert randomised(2048).positions(plain(1)).tolist() == [0]


def test_stride_is_fixed_in_advance_and_keeps_prefixes():
    scheme = randomised(100, "stride", longest=33)
    assert scheme.positions(plain(4)).tolist() == [0, 3, 6, 9]
    assert torch.equal(scheme.positions(plain(33))[:20], scheme.positions(plain(20)))


def test_training_draws_from_the_seed_and_anew_for_every_batch():
    scheme = randomised(500, training=True)
    torch.manual_seed(3)
    a, b = scheme.positions(plain(20)), scheme.positions(plain(20))
    torch.manual_seed(3)
    assert torch.equal(scheme.positions(plain(20)), a)
    assert not torch.equal(a, b)


@pytest.mark.parametrize("test", ["even", "stride", "sampled"])
def test_testing_repeats_itself_and_draws_nothing(test):
    scheme, before = randomised(500, test), torch.get_rng_state()
    assert torch.equal(scheme.positions(plain(20)), scheme.positions(plain(20)))
    assert torch.equal(torch.get_rng_state(), before)


def test_every_position_is_met_equally_often():
    torch.manual_seed(0)
    scheme = randomised(20, training=True)
    hits = torch.stack(
        [torch.zeros(20).index_fill(0, scheme.positions(plain(5)).long(), 1) for _ in range(4000)]
    ).mean(0)
    torch.testing.assert_close(hits, torch.full((20,), 0.25), atol=0.03, rtol=0)


def test_equal_mean_stretches_in_training_and_not_at_test():
    torch.manual_seed(0)
    scheme = EqualMeanPositions(SHAPE)
    draws = torch.stack([scheme.positions(plain(30)) for _ in range(3000)])
    last = draws[:, -1:]
    torch.testing.assert_close(
        draws, torch.linspace(0, 1, 30, dtype=torch.float64) * last, atol=1e-9, rtol=1e-12
    )
    assert 28 < float(last.mean()) < 32 and 27 < float(last.std()) < 33
    assert torch.equal(scheme.eval().positions(plain(30)), plain(30))


@pytest.mark.parametrize(
    ("test", "training", "most"),
    [("even", True, 64), ("even", False, 64), ("sampled", False, 64), ("stride", False, 32)],
)
def test_a_text_longer_than_the_positions_is_out_of_range(test, training, most):
    scheme = randomised(64, test, training)
    assert len(scheme.positions(plain(most))) == most
    with pytest.raises(OutOfRange):
        scheme.positions(plain(most + 1))


WIDE = Shape(16, 2, length=8)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("n", [0, 1, 8, 1000])
def test_random_floats_are_sorted_reals_of_one_range_at_every_length(n, training):
    t = RandomFloats(WIDE, 50.0).train(training).positions(plain(n))
    assert t.shape == (n,) and t.dtype == torch.float64
    assert (t >= 0).all() and (t < 50).all() and (t.diff() > 0).all()
    assert not n or not torch.equal(t, t.round())


def test_random_floats_are_uniform():
    """Order statistic k of n draws has mean M k / (n + 1)."""
    s = RandomFloats(WIDE).train()
    torch.manual_seed(0)
    means = torch.stack([s.positions(plain(7)) for _ in range(4000)]).mean(0)
    assert means.tolist() == pytest.approx([8 * k / 8 for k in range(1, 8)], abs=0.1)


def test_random_floats_are_drawn_anew_in_training_alone():
    s = RandomFloats(WIDE)
    assert not torch.equal(s.train().positions(plain(9)), s.positions(plain(9)))
    state = torch.random.get_rng_state()
    once = s.eval().positions(plain(9))
    assert torch.equal(once, s.positions(plain(9)))
    assert torch.equal(state, torch.random.get_rng_state())
    assert not torch.equal(once, s.positions(plain(10))[:9])
