"""Documents as training data and as test contexts, read back token by token."""

import numpy as np
import pytest

from extrap.data.facts import RELATIONS, Template
from extrap.data.multidoc import DocumentForm, MultiDocument
from extrap.data.trials.base import Trials
from extrap.data.vocabulary import Vocabulary
from tests.support.hand import drawn_from

V = Vocabulary()
STREAM = (
    np.random.default_rng(0)
    .choice(np.frombuffer(b"abcdefgh ", np.uint8), size=6000)
    .astype(np.uint16)
)
LENGTHS = (64, 65, 128, 300)


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


@pytest.mark.parametrize("facts", [1, 2])
@pytest.mark.parametrize("length", LENGTHS)
def test_distractors_and_filler_are_the_same_at_every_depth(facts, length):
    made, template = Trials(V, STREAM, length, range(6)), Template.of(V, facts)
    for ordered in (True, False):
        rest = set()
        for depth in (0.0, 0.1, 0.5, 0.75, 1.0):
            trials = DocumentForm(facts, ordered).questions(made, depth)
            behind = (template.most(length) - trials.index) * template.width
            start = length - template.each - behind
            assert trials.tokens.shape == (6, length)
            assert trials.index == round(depth * (template.most(length) - 1))
            subjects = []
            for row, answer in zip(trials.tokens, trials.answers[:, 0], strict=True):
                known, slots = facts_of(row[: -template.each])
                fact = row[-1], chr(row[-2])
                assert known[fact] == answer and start <= slots[fact] < start + template.width
                assert row[start + template.width - 1] == ord(".")
                subjects.append(slots[fact])
            assert trials.distance == pytest.approx(length - 1 - np.mean(subjects))
            rest.add(
                np.delete(trials.tokens, np.arange(start, start + template.width), axis=1).tobytes()
                + trials.answers.tobytes()
            )
        assert len(rest) == 1
