"""The token before the key: its training data by a loop, its questions beside kv's, and
readers who look to one side alone.
"""

import numpy as np
import pytest

from extrap.data.keyvalue import BeforeKey, KeyValue, Records, ValueFirst
from extrap.data.part import EARLY
from extrap.data.trials.base import Trials
from extrap.tasks.kv_before import KVBefore
from tests.support.hand import VOCABULARY as V
from tests.support.hand import Texts, drawn_from, measure, oracle, reader, solving, values

L = 20
TEXT = Texts([np.arange(4000) % 251])
STREAM = TEXT.stream("validation")


def task():
    return KVBefore(multiples=(1, 2), trials=12)


def before(context, query, vocabulary):
    """The token before the first slot of the key."""
    return context[context.index(query[0]) - 1]


def test_only_the_order_within_records_differs_from_key_value_data():
    made = [kind(size=60).draw(drawn_from(0, V, STREAM, 64), 0.5) for kind in (KeyValue, BeforeKey)]
    (ours, scored), (plain, alike) = made
    assert (np.sort(ours) == np.sort(plain)).mean() > 0.95 and (scored == alike).all()
    assert (ours != plain).any(1).all()
    row = plain[(alike == EARLY).any(1)][0].tolist()
    start = next(n for n, token in enumerate(row) if token in V.value_ids)
    assert row[start : start + 2] == row[start + 2 : start + 4] and row[start + 1] in V.key_ids


@pytest.mark.parametrize("length", [12, 33])
def test_questions_are_those_of_records_with_every_record_swapped(length):
    for depth in (0, 0.3, 1):
        ours, plain = (
            form.questions(Trials(V, STREAM, length, range(5)), depth)
            for form in (Records(layout=ValueFirst()), Records())
        )
        over = 1 + (length - 2) % 2
        swapped = plain.tokens[:, over:-1].reshape(5, -1, 2)[..., ::-1].reshape(5, -1)
        assert (ours.tokens[:, over:-1] == swapped).all()
        assert (ours.tokens[:, -1] == plain.tokens[:, -1]).all()
        assert (ours.answers == plain.answers).all()
        assert (ours.index, ours.distance) == (plain.index, plain.distance)


def test_who_reads_to_one_side_is_right_about_one_form():
    found = values(measure(task(), solving(before, 1), TEXT, L), "accuracy")
    assert max(a for (protocol, *_), a in found.items() if protocol == "after") < 0.5
    assert {a for (protocol, *_), a in found.items() if protocol == "before"} == {1.0}
    after = values(measure(task(), reader(oracle), TEXT, L), "accuracy")
    assert {a for (protocol, *_), a in after.items() if protocol == "after"} == {1.0}
    assert max(a for (protocol, *_), a in after.items() if protocol == "before") < 0.5
