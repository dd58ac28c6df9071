"""Scenes: every answer follows from the records by reading them with a loop."""

import numpy as np
import pytest

from extrap.data.nth import MOST, Nth, NthForm
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


@pytest.mark.parametrize("length", LENGTHS)
def test_the_nth_record_is_asked_in_one_context_from_both_ends(length):
    contexts = set()
    for count in ("start", "end"):
        form = NthForm(4, count)
        for rank, depth in enumerate((0, 1 / 3, 2 / 3, 1)):
            made = form.questions(Trials(V, STREAM, length, range(5)), depth)
            marks = made.tokens[:, -2] - V.key_ids.start
            assert set(marks) == {rank if count == "start" else 2 * MOST - 4 + rank}
            contexts.add(made.tokens[:, :-2].tobytes() + made.tokens[:, -1:].tobytes())
    assert len(contexts) == 1


def test_a_question_depends_on_nothing_but_its_seed_length_and_number():
    for form in FORMS:
        whole = form.questions(Trials(V, STREAM, 40, range(8)), 0.5).tokens
        some = form.questions(Trials(V, STREAM, 40, [7, 3]), 0.5).tokens
        np.testing.assert_array_equal(some, whole[[7, 3]])
        assert len({row.tobytes() for row in whole}) == 8


def test_chains_of_training_have_all_numbers_of_hops():
    rows, scored = Trace(size=200, hops=3).draw(drawn_from(0, V, STREAM, 64), 1.0)
    hops = set()
    for row, score in zip(rows.tolist(), scored, strict=True):
        first = int(np.flatnonzero(score)[0])
        given = {row[t]: row[t + 1] for t in range(first) if row[t] in V.key_ids}
        for at in np.flatnonzero(score):
            key, steps = row[at], 0
            while given[key] in V.key_ids:
                key, steps = given[key], steps + 1
            hops.add(steps)
    assert hops == {0, 1, 2, 3}
