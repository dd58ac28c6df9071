"""Scenes: every answer follows from the records by reading them with a loop."""

import numpy as np
import pytest

from extrap.data.nth import Nth, NthForm
from extrap.data.trace import Trace, TraceForm
from extrap.data.trials.base import Trials
from extrap.data.vocabulary import Vocabulary
from tests.support.hand import drawn_from, nth_answer, trace_answer

V = Vocabulary(keys=64, values=16)
STREAM = np.random.default_rng(0).integers(32, 59, size=5000).astype(np.uint16)
PARTS = [Nth(size=60, copies=4), Trace(size=60, hops=3)]
FORMS = [NthForm(4), NthForm(4, "end", "even"), TraceForm(0), TraceForm(2)]
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


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_question_is_answered_by_the_record_at_its_depth(form, length):
    n, rest = form.records(length), set()
    for depth in (0.0, 0.25, 0.5, 1.0):
        every = form.questions(Trials(V, STREAM, length, range(5)), depth)
        assert every.tokens.shape == (5, length) and every.tokens.dtype == np.int64
        start, places = length - form.asking - form.width * n, []
        for i in range(5):
            made = form.questions(Trials(V, STREAM, length, [i]), depth)
            (row,), (answer,), (values,) = made.tokens, made.answers, made.values
            gold = start + form.width * int(made.index)
            assert made.distance == length - 1 - gold
            context = row[1 : length - form.asking].tolist()
            assert answer[0] == known(form, context, tuple(row[length - form.asking :]))
            assert row[gold + 1] == answer[0], "the value stands in the record that is moved"
            assert set(values.ravel()) == set(row[np.isin(row, V.value_ids)])
            without = np.delete(row, np.arange(gold, gold + form.width))
            rest.add((i, without[: -form.asking].tobytes()))
            places.append((made.index, made.distance))
        np.testing.assert_allclose((every.index, every.distance), np.mean(places, 0))
    if isinstance(form, TraceForm):
        assert len(rest) == 5, "all but the moved record is the same at every depth"
        assert [form.questions(Trials(V, STREAM, length, [0]), d).index for d in (0, 1)] == [
            0,
            n - 1,
        ]
