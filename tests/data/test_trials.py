import numpy as np
import pytest

from extrap.data.keyvalue import Padded, Records
from extrap.data.trials.base import DEPTHS, Trials
from extrap.data.vocabulary import Vocabulary

V = Vocabulary()
STREAM = np.random.default_rng(0).integers(256, size=5000).astype(np.uint16)
FORMS = [Records(), Padded(8), Padded(1)]
LENGTHS = [32, 64, 65, 96, 512]
both = pytest.mark.parametrize("form", FORMS, ids=["records", "padded", "padded-1"])


def trials(form, length, depth, items=range(5), seed=0):
    return form.questions(Trials(V, STREAM, length, items, seed), depth)


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


@both
@pytest.mark.parametrize("length", LENGTHS)
def test_all_but_the_gold_record_is_the_same_at_every_depth(form, length):
    rest = []
    for depth in DEPTHS:
        made = trials(form, length, depth)
        gold = length - 1 - made.distance
        rest.append(
            np.delete(made.tokens, [gold, gold + 1], axis=1).tobytes() + made.answers.tobytes()
        )
    assert len(set(rest)) == 1


@pytest.mark.parametrize("length", LENGTHS)
def test_depth_of_padded_is_a_place_in_tokens(length):
    for depth in DEPTHS:
        slot = length - 1 - trials(Padded(8), length, depth).distance
        assert abs(slot - (1 + depth * (length - 4))) <= 1.5
    assert trials(Padded(8), length, 0.0).distance == length - 2
    assert trials(Padded(8), length, 1.0).distance == 2


@pytest.mark.parametrize("length", LENGTHS)
def test_padded_grows_by_running_text_in_equal_gaps(length):
    made = trials(Padded(8), length, 1.0)
    text = STREAM.astype(np.uint8).tobytes()
    for row in made.tokens:
        assert bytes(row[row < V.text].astype(np.uint8)) in text
        # One gap before every distractor and one behind the last; the gold record and the query end
        # the context.
        gaps = (
            np.diff(
                [
                    -1,
                    *np.flatnonzero((row >= V.key_ids.start) & (row < V.key_ids.stop))[:7],
                    length - 3,
                ]
            )
            - 2
        )
        assert max(gaps) - min(gaps) <= 1
        assert len(row[row < V.text]) == length - 2 - 2 * 8


@both
def test_a_trial_depends_on_nothing_but_its_seed_length_and_number(form):
    whole = trials(form, 64, 0.5, range(10)).tokens
    np.testing.assert_array_equal(trials(form, 64, 0.5, [7, 3]).tokens, whole[[7, 3]])
    assert len({row.tobytes() for row in whole}) == 10
    assert not np.array_equal(trials(form, 64, 0.5, range(10), seed=1).tokens, whole)


def test_gold_stands_anywhere_among_distinct_keys():
    """The gold key is no special key: over trials it is drawn from all ids."""
    answers = trials(Records(), 32, 0.5, range(500))
    assert len({*answers.tokens[:, -1]}) > 200
    assert len({*answers.answers[:, 0]}) == V.values
