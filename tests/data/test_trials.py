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
