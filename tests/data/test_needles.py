"""Where needles stand, in tokens, and what k_max is."""

import numpy as np
import pytest

from extrap.data.multivalue import most_needles, needles, places
from extrap.data.trials.base import Trials
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.haystack import k_max

V = Vocabulary()
STREAM = np.random.default_rng(0).integers(256, size=5000).astype(np.uint16)


@pytest.mark.parametrize("length", range(8, 30))
def test_no_more_needles_fit_with_a_query_each(length):
    m = most_needles(length)
    assert (np.diff(places(length, m, m)) >= 2).all()
    assert (np.diff(places(length, m + 1, m + 1)) < 2).any()


def test_queries_ask_every_key_and_are_answered_but_the_last():
    made = needles(Trials(V, STREAM, 64, range(30)), 4, 4)
    at = places(64, 4, 4)
    for row, answers, asked in zip(made.tokens, made.answers, made.asked, strict=True):
        assert sorted(asked) == [0, 1, 2, 3]
        assert row[-7::2].tolist() == row[at][asked].tolist()
        assert row[-6::2].tolist() == answers[asked][:3].tolist()
    assert len({tuple(a) for a in made.asked}) > 10


def test_values_of_a_key_differ():
    made = needles(Trials(V, STREAM, 64, range(30)), 4, 1)
    assert all(len(set(a)) == 4 for a in made.answers)
    assert all(set(row[[1, -1]]) == {row[-1]} for row in made.tokens)
    np.testing.assert_array_equal(
        needles(Trials(V, STREAM, 64, [7]), 4, 1).tokens[0], made.tokens[7]
    )


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
