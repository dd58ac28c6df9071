"""Training on records: every scored token follows from the context by reading it with a loop."""

from itertools import pairwise

import numpy as np
import pytest

from extrap.data.aggregate import Aggregate
from extrap.data.before import BeforeKey
from extrap.data.keyvalue import KeyValue
from extrap.data.mqar import MultiQuery
from extrap.data.multivalue import MultiValue
from extrap.data.nth import Nth
from extrap.data.recall import MARKS, Recall
from extrap.data.trace import Trace
from extrap.data.trace_written import TraceWritten
from tests.support.hand import (
    VOCABULARY,
    Texts,
    aggregate_answer,
    drawn_from,
    nth_answer,
    trace_answer,
    written_answer,
)

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
