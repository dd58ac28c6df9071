"""The n-th record and chains of assignments, on readers whose accuracy is known exactly."""

from itertools import pairwise

import numpy as np
import pytest

from extrap.tasks.nth import NthRecord
from extrap.tasks.trace import VariableTracking
from tests.support.hand import VOCABULARY, Texts, measure, nth_answer, solving, values

L = 32
TEXT = Texts([32 + np.arange(4000) % 26])
VALUES = VOCABULARY.value_ids


def nth(**options):
    return NthRecord(**{"multiples": (0.5, 1, 2), "trials": 12} | options)


def trace(**options):
    return VariableTracking(
        **{"multiples": (0.75, 1, 2), "trials": 12, "hops": (0, 1, 2)} | options
    )


def test_who_always_takes_the_last_record_of_a_key_is_recency_itself():
    def last(context, query, vocabulary):
        return nth_answer(context, (vocabulary.key(15), query[1]), vocabulary)

    result = measure(nth(), solving(last, 2), TEXT, L)
    found = values(result, "accuracy")
    assert all(accuracy == (depth == 1) for (_, _, depth), accuracy in found.items())
    assert set(values(result, "recency").values()) == {1}
    assert set(values(result, "primacy").values()) == {0}
    assert {r["status"] for r in result.rows} == {"not trained"}


def by_slot(copies):
    """A reader of the mark and of the slot where even places put the record; it sees no key."""

    def answer(context, query, vocabulary):
        records = len(context) // 2
        order = query[0] - vocabulary.key_ids.start
        rank = order if order < 8 else copies - (16 - order)
        at = int(np.round(np.linspace(0, records - 1, copies))[rank])
        return context[len(context) - 2 * (records - at) + 1]

    return solving(answer, 2)


def test_who_never_looks_at_the_key_cannot_answer_nth():
    rates = {
        places: [
            rate
            for (_, n, _), rate in values(
                measure(nth(trials=200, copies=3, places=places), by_slot(3), TEXT, L), "accuracy"
            ).items()
            if n >= L
        ]
        for places in ("even", "drawn")
    }
    assert set(rates["even"]) == {1.0}
    assert max(rates["drawn"]) < 1 / 3


def test_who_takes_one_hop_alone_knows_chains_of_no_hop():
    """A reader that says the value of the record after the key, and gives up at a key."""

    def one_hop(context, query, vocabulary):
        (key,) = query
        follows = [b for a, b in pairwise(context) if a == key]
        return next((b for b in follows if b in vocabulary.value_ids), vocabulary.bos)

    found = values(measure(trace(), solving(one_hop, 1), TEXT, L), "accuracy")
    assert all(accuracy == (protocol == "hops-0") for (protocol, *_), accuracy in found.items())


@pytest.mark.parametrize("task", [nth(), trace()], ids=["nth", "trace"])
def test_naming_a_value_at_random_is_chance(task):
    rng = np.random.default_rng(0)
    any_value = solving(lambda *_: VALUES[rng.integers(len(VALUES))], 1)
    found = {
        r["protocol"]: r["value"]
        for r in measure(task, any_value, TEXT, L).rows
        if r["metric"] == "chance"
    }
    assert found == dict.fromkeys(task.forms(VOCABULARY), 1 / 16)
    rates = values(measure(task, any_value, TEXT, L), "accuracy").values()
    assert np.mean(list(rates)) == pytest.approx(1 / 16, abs=0.04)
