"""Questions about all of a context, on readers whose accuracy is known exactly."""

import numpy as np
import pytest

from extrap.tasks.aggregate import Aggregation
from tests.support.hand import VOCABULARY, Texts, measure, solving, values

L = 32
TEXT = Texts([32 + np.arange(4000) % 26])
LENGTHS = (8, 32, 64)


def task(**options):
    return Aggregation(**{"multiples": (0.25, 1, 2), "trials": 20} | options)


def test_who_reads_the_second_half_alone_fails_the_first():
    def late(context, query, vocabulary):
        half = context[len(context) // 2 :]
        seen = [t for t in half if t in vocabulary.value_ids]
        return max(set(seen), key=seen.count)

    result = measure(task(trials=200), solving(late, 1), TEXT, L)
    found = values(result, "accuracy")
    assert found["first-half", 64] < 0.4 < found["majority", 64] < 0.9
    assert {r["status"] for r in result.rows} == {"not trained"}


def test_a_constant_answer_is_chance():
    """By symmetry any label; of count the residue that a binomial number leaves most often."""
    first = VOCABULARY.value_ids.start
    result = measure(task(trials=1500), solving(lambda *_: first, 1), TEXT, L)
    accuracy, chance = values(result, "accuracy"), values(result, "chance")
    for kind, n in ((k, n) for k in ("majority", "first-half") for n in LENGTHS):
        assert chance[kind, n] == 1 / 4
        assert accuracy[kind, n] == pytest.approx(1 / 4, abs=0.05)
    always = [solving(lambda *_, r=residue: first + 4 + r, 1) for residue in range(4)]
    rates = [values(measure(task(trials=1500), says, TEXT, L), "accuracy") for says in always]
    for n in LENGTHS:
        best = max(rate["count", n] for rate in rates)
        assert chance["count", n] == pytest.approx(best, abs=0.05)
        assert values(result, "guess")["count", n] == chance["count", n]
