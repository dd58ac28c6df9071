"""Documents as training data and as test contexts, read back token by token."""

import numpy as np
import pytest

from extrap.data.facts import RELATIONS
from extrap.data.multidoc import MultiDocument
from extrap.data.vocabulary import Vocabulary
from tests.support.hand import drawn_from

V = Vocabulary()
STREAM = (
    np.random.default_rng(0)
    .choice(np.frombuffer(b"abcdefgh ", np.uint8), size=6000)
    .astype(np.uint16)
)


def draw(length=64, progress=1.0, seed=0, **options):
    return MultiDocument(**{"size": 80} | options).draw(
        drawn_from(seed, V, STREAM, length), progress
    )


def facts_of(row):
    """{(subject, relation): object} and the slots of the subjects, of everything in a row that is
    `<relation> <subject> <object>`.
    """
    known, slots = {}, {}
    for t in range(1, len(row) - 1):
        if row[t] in V.key_ids and row[t + 1] in V.value_ids:
            fact = (row[t], chr(row[t - 1]))
            known.setdefault(fact, row[t + 1])
            slots.setdefault(fact, t)
    return known, slots


@pytest.mark.parametrize("facts", [1, 2, 4])
@pytest.mark.parametrize("length", [32, 64, 65])
@pytest.mark.parametrize("progress", [0.0, 1.0])
def test_every_answer_is_the_object_of_its_question(facts, length, progress):
    sequences, scored = draw(length, progress, facts=facts)
    assert sequences.shape == (80, length + 1)
    assert scored.shape == (80, length)
    assert scored.any(1).all()
    for row, answered in zip(sequences, scored, strict=True):
        first = row.tolist().index(ord("?"))
        known, _ = facts_of(row[:first])
        assert row[0] == V.bos and {relation for _, relation in known} <= set(RELATIONS)
        assert len(known) == facts * len({subject for subject, _ in known})
        for t in np.flatnonzero(answered):
            mark, relation, subject = row[t - 2 : t + 1]
            assert mark == ord("?") and t > first
            assert row[t + 1] == known[subject, chr(relation)]
