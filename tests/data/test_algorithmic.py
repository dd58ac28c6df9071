from collections import Counter

import numpy as np
import pytest

from extrap.data.computed import HINTS
from extrap.data.strings import IGNORE, TASKS, FlipFlop
from extrap.data.vocabulary import Vocabulary
from tests.support.hand import drawn_from
from tests.tasks.test_algorithmic import solve

V = Vocabulary(keys=64, values=16)
STREAM = np.random.default_rng(0).integers(256, size=5000).astype(np.uint16)
every = pytest.mark.parametrize("name", TASKS)


def draw(name, size=300, seed=0):
    length = max(64, TASKS[name].width(20))
    return type(TASKS[name])(size=size).draw(drawn_from(seed, V, STREAM, length), 0.5)


@every
def test_the_answer_of_every_training_string_is_right(name):
    for row, scored in zip(*draw(name), strict=True):
        at = np.flatnonzero(row > V.bos)
        assert row[0] == V.bos
        assert (np.diff(at) == 1).all()
        assert (np.delete(row, at)[1:] < V.text).all()
        string, answers = row[at], np.concatenate([[False], scored])[at]
        assert scored.sum() == answers.sum()
        n = next(n for n in range(1, 21) if TASKS[name].width(n) == len(at))
        width = TASKS[name].answer_width(n)
        assert answers[-width:].all() and (name.startswith("flip-flop") or answers.sum() == width)
        assert solve([V.bos, *string[:-width].tolist()]) == string[-width:].tolist()


def test_every_read_of_a_flip_flop_is_scored_and_says_what_was_written():
    tokens, answers = FlipFlop().string(np.random.default_rng(0), V, 50)
    for t in np.flatnonzero(answers):
        assert solve([V.bos, *tokens[:t].tolist()]) == [tokens[t]]
    assert 2 < answers.sum() == (tokens == V.key(6)).sum()


@pytest.mark.parametrize(("name", "ignored"), [("flip-flop", 0.8), ("flip-flop-sparse", 0.98)])
def test_the_wanted_bit_of_a_flip_flop_stands_as_far_back_as_its_docstring_says(name, ignored):
    """That a longer flip-flop asks for nothing further back is why there is a sparse one."""
    for n in (20, 80):
        last = []
        for i in range(2000):
            tokens = TASKS[name].string(np.random.default_rng((n, i)), V, n)[0]
            last.append(n - np.flatnonzero(tokens[1:-2:2] != V.key(IGNORE))[-1])
        assert np.mean(last) == pytest.approx((1 - ignored**n) / (1 - ignored), rel=0.06)


@every
def test_lengths_are_uniform_and_every_slot_is_used(name):
    rows, scored = draw(name, size=4000)
    special = rows > V.bos
    first = max(6, TASKS[name].width(1) - TASKS[name].answer_width(1))
    assert special[:, 1:].any(0).all() and scored[:, first:].any(0).all()
    widths = special.sum(1)
    assert {TASKS[name].width(n) for n in range(1, 21)} == set(widths)
    assert (np.bincount(widths)[np.unique(widths)] > 130).all()


@every
@pytest.mark.parametrize("n", [1, 2, 20])
def test_widths_are_those_of_strings(name, n):
    tokens, answers = TASKS[name].string(np.random.default_rng(0), V, n)
    assert len(tokens) == len(answers) == TASKS[name].width(n)


@pytest.mark.parametrize("name", ["parity", "sort", "addition", "s5"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_chance_is_the_share_of_the_most_frequent_answer(name, n):
    few = Vocabulary(keys=64, values=10)
    drawn = Counter(
        TASKS[name]
        .string(np.random.default_rng(i), few, n)[0][-TASKS[name].answer_width(n) :]
        .tobytes()
        for i in range(4000)
    )
    expected = TASKS[name].chance(few, n)
    (_, most), *_ = drawn.most_common(1)
    assert most / 4000 == pytest.approx(expected, abs=4 * np.sqrt(expected / 4000))


def test_the_two_permutations_generate_all_of_s5():
    """Long products are nearly uniform over 120 answers."""
    assert TASKS["s5"].chance(V, 200) == pytest.approx(1 / 120, rel=0.01)


def test_hints_are_neighbours_that_begin_anywhere_and_are_the_same_in_both_numbers_and_the_sum():
    begins = set()
    for seed in range(400):
        string = TASKS["addition-hints"].string(np.random.default_rng(seed), V, 3)[0]
        first, second, total = (string[at : at + 2 * n : 2] for at, n in ((1, 3), (8, 3), (15, 4)))
        assert (np.diff(total) == 1).all() and set(total) < set(V.key_ids[HINTS:])
        assert (first == second).all() and (total[:3] == first).all()
        begins.add(int(total[0]))
    assert begins == {*V.key_ids[HINTS:-3]}
