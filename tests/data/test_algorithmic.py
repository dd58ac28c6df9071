from collections import Counter

import numpy as np
import pytest

from extrap.data.strings import TASKS
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
