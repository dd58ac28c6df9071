"""Digits of the position against long division, and the sinusoid that has their period."""

import pytest
import torch

from extrap.model.scheme import Shape, Where
from extrap.schemes.digits import Digits


def added(base: int, t: float, channels: int) -> list[float]:
    s = Digits(Shape(channels, 1), base)
    at = Where.whole(torch.tensor([t], dtype=torch.float64), 1.0)
    return s.embed(torch.zeros(1, 1, channels, dtype=torch.float64), at)[0, 0].tolist()


@pytest.mark.parametrize("base", [2, 3, 10])
def test_equals_long_division(base):
    s, T = Digits(Shape(8, 2), base), 3000
    digits = s.digits(torch.arange(T, dtype=torch.float64))
    for i in range(T):
        left = i
        for c in range(8):
            left, digit = divmod(left, base)
            assert digits[i, c] == digit


def test_wide_models_overflow_nothing():
    digits = Digits(Shape(4096, 2), 10).digits(torch.tensor([9e8], dtype=torch.float64))
    assert digits.isfinite().all() and digits.sum() == 9


def test_between_whole_positions_the_lowest_digit_moves():
    assert added(2, 5.25, 4) == [1.25, 0, 1, 0]
    assert added(10, 2.9999999999, 2) == pytest.approx([1 / 3, 0])
