"""Scenes: every answer follows from the records by reading them with a loop."""

import numpy as np
import pytest

from extrap.data.nth import Nth
from extrap.data.trace import Trace
from extrap.data.vocabulary import Vocabulary
from tests.support.hand import drawn_from, nth_answer, trace_answer

V = Vocabulary(keys=64, values=16)
STREAM = np.random.default_rng(0).integers(32, 59, size=5000).astype(np.uint16)
PARTS = [Nth(size=60, copies=4), Trace(size=60, hops=3)]
SOLVE = {"NthForm": nth_answer, "TraceForm": trace_answer}
LENGTHS = [24, 25, 26, 64]


def known(form, context, query):
    return SOLVE[type(form).__name__](context, query, V)


@pytest.mark.parametrize("difficulty", [0.0, 1.0])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_every_scored_token_follows_from_the_records(part, length, difficulty):
    rows, scored = part.draw(drawn_from(0, V, STREAM, length), difficulty)
    assert rows.shape == (60, length + 1) and scored.shape == (60, length)
    form = part.form
    for row, score in zip(rows.tolist(), scored, strict=True):
        answers = 1 + np.flatnonzero(score)
        start = answers[0] - form.asking
        assert row[0] == V.bos and len(answers) >= 1
        assert (np.diff(answers) == form.asking + form.saying).all()
        assert length - answers[-1] < form.asking + form.saying, "queries go on to the end"
        for at in answers:
            query = tuple(row[at - form.asking : at])
            assert row[at] == known(form, row[1:start], query)
