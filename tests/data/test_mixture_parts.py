"""Parts of a mixture: every scored token follows from the context, draws stay, and the curriculum
turns easy parts into hard ones.
"""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from extrap.data.aggregate import Aggregate
from extrap.data.curriculum import EVERY, Curriculum, Switches
from extrap.data.keyvalue import BeforeKey, KeyValue
from extrap.data.mqar import MultiQuery
from extrap.data.multidoc import MultiDocument
from extrap.data.multivalue import MultiValue
from extrap.data.nth import Nth
from extrap.data.recall import MARKS, Recall
from extrap.data.strings import TASKS
from extrap.data.trace import Trace, TraceWritten
from extrap.data.vocabulary import Vocabulary
from tests.support import draws
from tests.support.discover import CONF, calls, names, node
from tests.support.exceptions import NOT_DRAWN
from tests.support.hand import (
    VOCABULARY,
    Texts,
    aggregate_answer,
    drawn_from,
    nth_answer,
    trace_answer,
    written_answer,
)
from tests.tasks.test_algorithmic import solve

STREAM = Texts([32 + np.arange(4000) % 26]).stream("validation")
KEYS = VOCABULARY.key_ids


def behind(context, query):
    """All values behind the key."""
    return [b for a, b in pairwise(context) if a == query[0]]


def before(context, query):
    return [context[context.index(query[0]) - 1]]


def listed(context, query):
    """Any item of the list, or one of the last three, as the mark asks."""
    items = [token for token in context if token in KEYS[MARKS:]]
    assert len(set(items)) == len(items) >= 2
    return items if query[0] == KEYS[0] else items[-3:]


def told(context, query):
    """The object of every fact, relation, subject and object, with what is asked for."""
    facts = zip(context, context[1:], context[2:], strict=False)
    return [last for *fact, last in facts if ["?", *fact] == [chr(query[0]), *query[1:]]]


def one(answer):
    return lambda context, query: [answer(context, query)]


PARTS = {
    "key-value": (KeyValue(size=150, echo=0), 1, behind),
    "multivalue": (MultiValue(size=60), 1, behind),
    "mqar": (MultiQuery(size=60, pairs=4), 1, behind),
    "before": (BeforeKey(size=150, echo=0), 1, before),
    "nth": (Nth(size=60, copies=4), 2, one(nth_answer)),
    "trace": (Trace(size=60, hops=3), 1, one(trace_answer)),
    "trace-written": (TraceWritten(size=60, hops=2), 1, one(written_answer)),
    "aggregate": (Aggregate(size=80), 1, one(aggregate_answer)),
    "documents": (MultiDocument(size=80, facts=2), 3, told),
    "recall": (Recall(size=80, span=3), 1, listed),
}
"""(part, tokens of a question, the right answers to it)."""
CASES = [(name, length) for name in PARTS for length in (24, 25, 33, 64)]
CASES += [("key-value", 6), ("key-value", 7), ("recall", 8), ("aggregate", 7)]


@pytest.mark.parametrize("difficulty", [0.0, 1.0])
@pytest.mark.parametrize(("name", "length"), CASES)
def test_every_scored_token_follows_from_the_context(name, length, difficulty):
    part, asking, right = PARTS[name]
    rows, scored = part.draw(drawn_from(0, VOCABULARY, STREAM, length), difficulty)
    assert rows.shape == (part.size, length + 1) and scored.shape == (part.size, length)
    for row, score in zip(rows.tolist(), scored, strict=True):
        answers = 1 + np.flatnonzero(score)
        context = row[1 : answers[0] - asking]
        assert row[0] == VOCABULARY.bos
        for at in answers:
            assert row[at] in right(context, row[at - asking : at])


V = Vocabulary(keys=64, values=16)
BYTES = np.random.default_rng(0).integers(256, size=5000).astype(np.uint16)
every = pytest.mark.parametrize("name", TASKS)


def draw(name, size=300, seed=0):
    length = max(64, TASKS[name].width(20))
    return type(TASKS[name])(size=size).draw(drawn_from(seed, V, BYTES, length), 0.5)


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


@pytest.mark.parametrize("name", ["copy", "even-pairs", "parity", "sort", "addition", "s5"])
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


@pytest.mark.sample(30)
@pytest.mark.parametrize("case", draws.CASES, ids=[case["of"] for case in draws.CASES])
def test_draws_stay(case):
    assert draws.drawn(case) == case["drawn"]


def test_every_part_and_task_has_a_line():
    given = [case.get("part", case.get("task", {})) for case in draws.CASES]
    listed = {call["_target_"] for one in given for _, call in calls(one)}
    parts = {}
    for path in (CONF / "data").glob("*.yaml"):
        for name, part in (node("data", path.stem).get("more") or {}).items():
            parts[f"{path.stem} {name}"] = part["_target_"]
    tasks = {name: node("task", name)["_target_"] for name in names("task")}
    missing = {name for name, target in (parts | tasks).items() if target not in listed}
    assert missing == set(NOT_DRAWN)


def schooled(accuracies, steps=200, curriculum=None):
    switches = Switches(curriculum or Curriculum(latest=0.6), steps, ["retrieval"])
    for step, accuracy in enumerate(accuracies, 1):
        switches.update(step, {"retrieval": accuracy})
    return switches


def test_difficulty_is_0_then_rises_then_stays_1():
    rising = Curriculum(latest=0.5, ramp=0.2)
    found = [rising.difficulty(step, 40, 100) for step in (0, 39, 40, 50, 60, 99)]
    assert found == [0, 0, 0, 0.5, 1, 1]
    assert Curriculum(ramp=0.0).difficulty(40, 40, 100) == 1


def test_a_part_that_learns_switches_at_once():
    """0.9 of the past: 1 - 0.9**n reaches 0.95 at n = 29, seen at 30, in force ten steps later."""
    switches = schooled([1.0] * 100)
    assert switches.at("retrieval") == 30 + EVERY and switches.waiting == []


def test_a_part_that_does_not_learn_switches_at_the_latest():
    switches = schooled([0.94] * 119)
    assert switches.at("retrieval") == 120 and switches.waiting == ["retrieval"]


def test_nothing_is_waited_for_where_no_accuracy_is_given():
    switches = schooled([1.0] * 100, curriculum=Curriculum(accuracy=None, latest=0.1))
    assert switches.at("retrieval") == 20 and switches.waiting == []


def test_a_switch_is_never_later_than_the_latest():
    late = [0.0] * 85 + [1.0] * 34
    assert schooled(late).at("retrieval") == 120


@pytest.mark.parametrize("broken", [5, 29, 30, 35, 41])
def test_the_state_goes_on_where_it_stood(broken):
    accuracies = [min(1.0, 0.03 * step) for step in range(60)]
    whole = schooled(accuracies)
    resumed = Switches(Curriculum(latest=0.6), 200, ["retrieval"])
    resumed.load_state_dict(schooled(accuracies[:broken]).state_dict())
    for step, accuracy in enumerate(accuracies[broken:], broken + 1):
        resumed.update(step, {"retrieval": accuracy})
    assert resumed.state_dict() == whole.state_dict()
    assert whole.decided


def test_bytes_bos_keys_and_values_fill_the_ids_without_overlap():
    v = Vocabulary(keys=10, values=3)
    assert [*range(v.text), v.bos, *v.key_ids, *v.value_ids] == list(range(v.size))
    assert v.size == 256 + 1 + 10 + 3
