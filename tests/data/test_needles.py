"""Where needles stand, in tokens, and what k_max is."""

import numpy as np
import pytest

from extrap.data.keyvalue import Padded
from extrap.data.multivalue import least, places, several_queries, several_values
from extrap.data.passkey import k_max, noise, passkey_distances
from extrap.data.vocabulary import Vocabulary

V = Vocabulary()
STREAM = np.random.default_rng(0).integers(256, size=5000).astype(np.uint16)


@pytest.mark.parametrize("m", [2, 3, 4, 7])
@pytest.mark.parametrize("length", [28, 64, 65, 512])
def test_needles_stand_where_they_say(length, m):
    for form, queries in ((several_values, 1), (several_queries, m)):
        made = form(V, STREAM, 0, length, m, range(5))
        at = places(length, m, queries)
        assert made.tokens.shape == (5, length) and (np.diff(at) >= 2).all()
        assert (
            at[0] == 1
            and at[-1] == length - 2 * queries - 1
            and made.distances.tolist() == (length - queries - at).tolist()
        )
        for depth, slot in zip(made.depths, at, strict=True):
            assert abs(slot - (1 + depth * (length - 2 * queries - 2))) <= 0.5
        for row, answers in zip(made.tokens, made.answers, strict=True):
            assert row[at + 1].tolist() == answers.tolist() and row[0] == V.bos
            assert np.flatnonzero(
                row[: length - 2 * queries + 1] >= V.key_ids.start
            ).tolist() == sorted([*at, *(at + 1)])


def test_the_shortest_context_is_the_shortest():
    for m, queries in ((2, 1), (4, 4), (5, 1)):
        n = least(m, queries)
        assert (np.diff(places(n, m, queries)) >= 2).all() and not (
            np.diff(places(n - 1, m, queries)) >= 2
        ).all()


def test_queries_ask_every_key_and_are_answered_but_the_last():
    made = several_queries(V, STREAM, 0, 64, 4, range(30))
    at = places(64, 4, 4)
    for row, answers, asked in zip(made.tokens, made.answers, made.asked, strict=True):
        assert sorted(asked) == [0, 1, 2, 3]
        assert (
            row[-7::2].tolist() == row[at][asked].tolist()
            and row[-6::2].tolist() == answers[asked][:3].tolist()
        )
    assert len({tuple(a) for a in made.asked}) > 10


def test_values_of_a_key_differ():
    made = several_values(V, STREAM, 0, 64, 4, range(30))
    assert all(len(set(a)) == 4 for a in made.answers)
    assert all(set(row[[1, -1]]) == {row[-1]} for row in made.tokens)
    np.testing.assert_array_equal(
        several_values(V, STREAM, 0, 64, 4, [7]).tokens[0], made.tokens[7]
    )


@pytest.mark.parametrize("length", [32, 64, 512])
def test_passkeys_stand_at_the_distance_they_say_in_the_same_noise(length):
    at, rest = passkey_distances(2, length - 2, 32), set()
    assert at[0] == 2 and at[-1] == length - 2 and len(at) == min(32, length - 3)
    for distance in at:
        trials = Padded(1).questions(
            V, noise(V, length), 0, length, (length - 2 - distance) / (length - 4), range(3)
        )
        slot = length - 1 - distance
        assert (
            trials.distance == distance and (trials.tokens[:, slot] == trials.tokens[:, -1]).all()
        )
        rest.add(np.delete(trials.tokens, [slot, slot + 1], axis=1).tobytes())
    assert len(rest) == 1


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
