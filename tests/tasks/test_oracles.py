"""Every retrieval task on a reader that knows the answers: all of its rows say so;
and on readers that guess as well as can be.
"""

from dataclasses import replace

import numpy as np
import pytest

from extrap.data.recall import MARKS
from extrap.tasks.aggregate import Aggregation
from extrap.tasks.alias import AliasRetrieval
from extrap.tasks.kv import KV
from extrap.tasks.kv_query import KVQuery
from extrap.tasks.kv_serial import KVSerial
from extrap.tasks.kv_wide import KVWide
from extrap.tasks.mqar import MultiQueryRecall
from extrap.tasks.nth import NthRecord
from extrap.tasks.recall import ListRecall
from extrap.tasks.trace import VariableTracking
from extrap.tasks.trace_written import WrittenTracking
from tests.support import hand
from tests.support.hand import VOCABULARY as V
from tests.support.hand import Texts, aggregate_answer, nth_answer, solving, trace_answer
from tests.tasks.test_chains import V as ALIASES
from tests.tasks.test_chains import remembering, saying, value_of
from tests.tasks.test_kv_query import looks_up
from tests.tasks.test_kv_wide import matcher
from tests.tasks.test_recall import naming

L = 32
TEXT = Texts([32 + np.arange(4000) % 26])
HOPS = {"hops": (0, 1, 2), "multiples": (0.75, 1, 2)}
WRITTEN = {f"written-{h}": 1 / (V.keys**h * V.values) for h in range(3)}


def at(item):
    return item["protocol"], item["length"]


def wanted(items, mark):
    return items if mark == V.key_ids[0] else items[-4:]


CASES = {
    "aggregate": (Aggregation(), solving(aggregate_answer, 1), 1 / 4),
    "alias": (AliasRetrieval(), solving(value_of, 2, ALIASES), 1 / 16),
    "kv-query": (KVQuery(), looks_up(), {"first": 1 / 16 / V.keys, "both": 1 / 16}),
    "kv-serial": (KVSerial(), hand.reader(hand.oracle), 1 / 16),
    "kv-wide-1": (KVWide(width=1, pool=64), matcher(range(1), 1), 1 / 16),
    "kv-wide-2": (KVWide(pool=6), matcher(range(2)), 16.0**-2),
    "kv-wide-3": (KVWide(width=3, pool=6), matcher(range(3), 3), 16.0**-3),
    "mqar": (MultiQueryRecall(pairs=(2, 7)), remembering(lambda seen: seen[0]), 1 / 16),
    "nth": (NthRecord(multiples=(0.5, 1, 2)), solving(nth_answer, 2), 1 / 16),
    "recall": (ListRecall(multiples=(1, 2)), naming(wanted), {"span": 4 / (V.keys - MARKS)}),
    "trace": (VariableTracking(**HOPS), solving(trace_answer, 1), 1 / 16),
    "trace-written": (WrittenTracking(**HOPS), saying(hand.written_answer), WRITTEN),
}


@pytest.mark.parametrize("name", CASES)
def test_who_knows_the_answers_is_right_everywhere(name):
    task, model, chance = CASES[name]
    task = replace(task, trials=6, multiples=task.multiples[:3])
    result = hand.measure(task, model, TEXT, L, ALIASES if name == "alias" else V)
    rights = {"accuracy", "restricted", "format", "recall"}
    found = [r for r in result.rows if r["metric"] in rights]
    cells = {(r["protocol"], r["length"]) for r in found}
    lengths = task.lengths(L)
    assert cells == {(protocol, n) for protocol in task.forms(V) for n in lengths}
    assert {r["value"] for r in found} == {1.0}
    gates = [r["protocol"] for r in result.rows if r["metric"] == "gate"]
    assert gates == list(task.forms(V))
    assert {r["status"] for r in result.rows} == {"ok"}
    guesses = {(r["protocol"], r["length"]) for r in result.rows if r["metric"] == "guess"}
    assert guesses == cells
    chances = {r.get("protocol"): r["value"] for r in result.rows if r["metric"] == "chance"}
    distances = [
        [i["value"] for i in result.items if i["metric"] == "distance" and at(i) == place]
        for place in {at(i): None for i in result.items}
    ]
    assert all(one == sorted(one, reverse=True) for one in distances)
    if isinstance(chance, dict):
        assert chances.items() >= chance.items()
    else:
        assert chance in chances.values()


RNG = np.random.default_rng(0)


def any_value(context, query, vocabulary):
    return RNG.choice([t for t in context if t in vocabulary.value_ids])


def any_label(context, query, vocabulary):
    seen = [t for t in context if t in vocabulary.value_ids]
    return RNG.choice(seen[: len(seen) // 2] if query[0] == vocabulary.key(1) else seen)


def any_of_the_key(context, query, vocabulary):
    """Finds the key and not the order of its five records."""
    return nth_answer(context, (vocabulary.key(int(RNG.integers(5))), query[1]), vocabulary)


def any_chain(context, query, vocabulary):
    """A chain with hops ends in a key that another record names."""
    records = [context[i : i + 3] for i in range(len(context) % 3, len(context), 3)]
    named = {x for _, x, _ in records}
    ends = [(key, x) for key, x, _ in records if x in vocabulary.value_ids]
    return RNG.choice([x for key, x in ends if key in named] or [x for _, x in ends])


GUESSES = {
    "aggregate": (Aggregation(trials=2000, ask=("majority", "first-half")), any_label, 1),
    "alias": (AliasRetrieval(trials=300, ask=("one-hop",)), any_value, 2),
    "kv": (KV(trials=300, pairs=5), any_value, 1),
    "nth": (NthRecord(trials=400), any_of_the_key, 2),
    "trace": (VariableTracking(trials=300, **HOPS), any_chain, 1),
}


@pytest.mark.turns
@pytest.mark.parametrize("name", GUESSES)
def test_who_names_a_possible_answer_has_the_guess(name):
    task, answer, asking = GUESSES[name]
    vocabulary = ALIASES if name == "alias" else V
    model = solving(answer, asking, vocabulary)
    result = hand.measure(replace(task, multiples=(1, 2)), model, TEXT, L, vocabulary)
    accuracy, guess = (hand.values(result, metric) for metric in ("accuracy", "guess"))
    assert len(guess) == 2 * len(task.forms(vocabulary))
    for place, expected in guess.items():
        rates = [rate for at, rate in accuracy.items() if at[:2] == place]
        assert np.mean(rates) == pytest.approx(expected, abs=0.03), place
