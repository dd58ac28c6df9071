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
            trials = DocumentForm(template, ordered).questions(made, depth)
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


def test_ordered_has_the_documents_of_shuffled_with_hard_ones_in_front():
    made, template = Trials(V, STREAM, 128, range(20)), Template.of(V, 1)
    ordered, shuffled = (
        DocumentForm(template, o).questions(made, 1.0).tokens for o in (True, False)
    )
    start = 128 - template.each - template.most(128) * template.width
    differ = 0
    for a, b in zip(ordered, shuffled, strict=True):
        documents = [row[start : -template.each].reshape(-1, template.width) for row in (a, b)]
        assert sorted(map(bytes, documents[0])) == sorted(map(bytes, documents[1]))
        hard = [d[0] == a[-2] for d in documents[0][:-1]]
        assert hard == sorted(hard, reverse=True)
        differ += not np.array_equal(a, b)
    assert differ > 15


def test_the_lines_ask_the_same_questions():
    made, template = Trials(V, STREAM, 64, range(9)), Template.of(V, 2)
    form = DocumentForm(template, True)
    full = form.questions(made, 0.5)
    alone, none = (form.without_search(made, documents) for documents in (1, 0))
    q = template.each
    assert (full.answers == alone.answers).all() and (full.answers == none.answers).all()
    assert (full.tokens[:, -q:] == alone.tokens[:, -q:]).all()
    assert (none.tokens[:, 1:] == alone.tokens[:, -q:]).all()
    gold = 64 - q - (template.most(64) - full.index) * template.width
    assert (alone.tokens[:, 1:-q] == full.tokens[:, gold : gold + template.width]).all()
    assert alone.tokens.shape[1] == 1 + template.width + q and none.values.size == 0


def test_more_documents_of_a_retriever_are_the_same_and_further_ones():
    made, template = Trials(V, STREAM, 64, range(400)), Template.of(V, 2)
    few, found_few = DocumentForm(template).retrieved(made, 5, 0.2)
    many, found_many = DocumentForm(template).retrieved(made, 12, 0.2)
    end = 1 + 5 * template.width
    assert (few.tokens[:, :end] == many.tokens[:, :end]).all()
    assert not (found_few & ~found_many).any()
    assert found_few.mean() == pytest.approx(1 - 0.8**5, abs=0.08)
    assert found_many.mean() == pytest.approx(1 - 0.8**12, abs=0.04)
    assert (found_few == (few.tokens[:, :end] == few.tokens[:, -1:]).any(1)).all()
    assert found_few[(few.tokens[:, 1 : 1 + template.width] == few.tokens[:, -1:]).any(1)].all()
