"""Where needles stand, in tokens, and what k_max is."""

import numpy as np
import pytest

from extrap.data.multivalue import most_needles, places
from extrap.tasks.haystack import k_max


@pytest.mark.parametrize("length", range(8, 30))
def test_no_more_needles_fit_with_a_query_each(length):
    m = most_needles(length)
    assert (np.diff(places(length, m, m)) >= 2).all()
    assert (np.diff(places(length, m + 1, m + 1)) < 2).any()


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([1, 1, 1], 30),
        ([1, 0.2, 0.1], 20),
        ([0.1, 1, 1], 0),
        ([1, 0.1, 1], 10),
        ([0.2, 0.2, 0.2], 30),
        ([0, 0, 0], 0),
    ],
)
def test_k_max_is_where_success_first_falls_below_a_fifth(rates, expected):
    assert k_max([10, 20, 30], rates) == expected
    assert k_max([30, 10, 20], [rates[2], rates[0], rates[1]]) == expected
