"""Sequences and contexts of records, read back token by token: records and queries, trials,
needles.
"""

import numpy as np
import pytest

from extrap.data.keyvalue import KeyValue, Padded, Records
from extrap.data.multivalue import most_needles, places
from extrap.data.part import EARLY
from extrap.data.query import Query, QueryForm
from extrap.data.trials.base import DEPTHS, Trials
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.haystack import k_max
from tests.support.hand import drawn_from

V = Vocabulary()
STREAM = np.random.default_rng(0).integers(256, size=5000).astype(np.uint16)


def draw(part=None, length=64, difficulty=1.0, seed=0):
    part = part or KeyValue(size=150, echo=0)
    return part.draw(drawn_from(seed, V, STREAM, length), difficulty)


def keys(sequences):
    return (sequences >= V.key_ids.start) & (sequences < V.key_ids.stop)


def test_echoes_are_records_twice_of_which_the_second_key_is_scored():
    sequences, scored = draw(KeyValue(size=400, echo=0.5), difficulty=0.0)
    assert ((scored == EARLY).any(1) == (np.arange(400) < 200)).all()
    for row, mark in zip(sequences[:200], scored[:200], strict=True):
        start = int(np.argmax(keys(row)))
        body = row[start : start + 4 * ((65 - start) // 4)].reshape(-1, 4)
        assert 1 <= start <= 4 and (row[1:start] < V.text).all()
        assert (body[:, :2] == body[:, 2:]).all() and (body[:, 1] >= V.value_ids.start).all()
        assert len(set(body[:, 0])) == len(body)
        assert np.flatnonzero(mark).tolist() == list(range(start + 1, 64, 4))
        assert set(mark) <= {0, EARLY}


def questions(length=64, progress=1.0, seed=0, **options):
    return Query(**({"size": 150} | options)).draw(drawn_from(seed, V, STREAM, length), progress)


def parse(row):
    """(asked keys, {key: value}, the token after the records, slot after it)."""
    is_value = np.isin(row, V.value_ids)
    first_value = is_value.argmax()
    asked, at, records = row[1 : first_value - 1].tolist(), first_value - 1, {}
    while at + 1 < len(row) and row[at] in V.key_ids:
        records[row[at]] = row[at + 1]
        at += 2
    return asked, records, row[at], at + 1


@pytest.mark.parametrize("progress", [0.0, 1.0])
@pytest.mark.parametrize("length", [8, 9, 63, 64])
def test_every_answer_is_the_value_of_an_asked_key(length, progress):
    for row, scored in zip(*questions(length, progress), strict=True):
        asked, records, mark, tail = parse(row)
        assert row[0] == V.bos and len(set(asked)) == len(asked) and set(asked) <= set(records)
        assert 2 <= len(records) <= QueryForm("both").records(length)
        queries = row[tail::2].tolist()
        assert queries[: len(asked)] == asked[: len(queries)], "asked in the order of the front"
        assert set(queries) <= set(asked)
        for key, value in zip(queries, row[tail + 1 :: 2], strict=False):
            assert records[key] == value
        first = [tail] if mark == V.bos else []
        expected = first + [t for t in range(tail + 1, tail + 1 + 2 * len(asked), 2) if t <= length]
        assert (np.flatnonzero(scored) + 1).tolist() == expected and expected
        assert mark == V.bos or mark < V.text


FORMS = [Records(), Padded(8), Padded(1)]
LENGTHS = [32, 64, 65, 96, 512]
both = pytest.mark.parametrize("form", FORMS, ids=["records", "padded", "padded-1"])


def trials(form, length, depth):
    return form.questions(Trials(V, STREAM, length, range(5)), depth)


@both
@pytest.mark.parametrize("length", LENGTHS)
def test_the_answer_is_the_value_of_the_last_key(form, length):
    for depth in DEPTHS:
        made = trials(form, length, depth)
        assert made.tokens.shape == (5, length)
        assert made.tokens.dtype == np.int64
        for row, answer, values in zip(
            made.tokens, made.answers[:, 0], made.values[..., 0], strict=True
        ):
            slots = [t for t in range(length) if row[t] in V.key_ids]
            (gold,) = (t for t in slots[:-1] if row[t] == row[-1])
            assert row[0] == V.bos
            assert slots[-1] == length - 1
            assert len({*row[slots]}) == len(slots) - 1 == form.records(length)
            assert row[gold + 1] == answer
            assert sorted(row[[t + 1 for t in slots[:-1]]]) == sorted(values)
            assert (made.index, made.distance) == (slots.index(gold), length - 1 - gold)


@pytest.mark.parametrize("length", range(8, 30))
def test_no_more_needles_fit_with_a_query_each(length):
    m = most_needles(length)
    assert (np.diff(places(length, m, m)) >= 2).all()
    assert (np.diff(places(length, m + 1, m + 1)) < 2).any()


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([1, 1, 1], 30),
        ([1, 0.2, 0.1], 20),
        ([0.1, 1, 1], 0),
        ([1, 0.1, 1], 10),
        ([0.2, 0.2, 0.2], 30),
        ([0, 0, 0], 0),
    ],
)
def test_k_max_is_where_success_first_falls_below_a_fifth(rates, expected):
    assert k_max([10, 20, 30], rates) == expected
    assert k_max([30, 10, 20], [rates[2], rates[0], rates[1]]) == expected
