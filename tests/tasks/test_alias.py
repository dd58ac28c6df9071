"""Retrieval by aliases, on readers whose accuracy is known exactly."""

import numpy as np
import pytest

from extrap.data.alias import Alias, table, unseen
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.alias import AliasRetrieval
from tests.support.hand import Texts, drawn_from, measure, solving, values

L = 32
V = Vocabulary(keys=100, values=16)
TEXT = Texts([32 + np.arange(4000) % 26])
STREAM = TEXT.stream("validation")
NAMES = {
    V.key(int(other)): V.key(int(name)) for name, *more in table(V.keys) for other in (name, *more)
}
"""The name behind every name and alias."""


def task(**options):
    return AliasRetrieval(**{"multiples": (0.5, 1, 2), "trials": 12} | options)


def value_of(context, query, vocabulary):
    """By the table of aliases and a loop over the records."""
    _, key = query
    return next(b for a, b in zip(context[-2::-2], context[::-2], strict=False) if a == NAMES[key])


@pytest.mark.parametrize("length", [12, 32, 33])
def test_training_states_facts_and_asks_for_values_but_of_no_unseen_name_in_two_hops(length):
    rows, scored = Alias(size=300).draw(drawn_from(0, V, STREAM, length), 1.0)
    asked, facts = set(), 0
    rank = {
        V.key(int(key)): (i, hops)
        for i, row in enumerate(table(V.keys))
        for hops, key in enumerate(row)
    }
    for row, score in zip(rows.tolist(), scored, strict=True):
        answers = 1 + np.flatnonzero(score)
        context = row[1 : answers[0] - 2]
        for at in answers:
            mark, key = row[at - 2 : at]
            name, hops = rank[key]
            if mark == V.key(0):
                assert row[at] == value_of(context, (mark, key), V)
                asked.add((bool(unseen(np.array(name))), hops))
            else:
                assert mark == V.key(1) and rank[row[at]] == (name, hops - 1)
                facts += 1
    assert asked == {(False, 0), (False, 1), (False, 2), (True, 0), (True, 1)} and facts > 50


def test_who_matches_letters_alone_knows_the_literal_name_alone():
    def literal(context, query, vocabulary):
        follows = [b for a, b in zip(context, context[1:], strict=False) if a == query[1]]  # noqa: RUF007
        return follows[0] if follows else vocabulary.bos

    found = values(measure(task(), solving(literal, 2, V), TEXT, L, V), "accuracy")
    assert all(accuracy == (kind == "literal") for (kind, *_), accuracy in found.items())
