"""Multi-query associative recall, on readers whose accuracy is known exactly."""

import numpy as np
import pytest
import torch

from extrap.data.mqar import MultiQuery, draw_associations
from extrap.tasks.mqar import MultiQueryRecall
from tests.support.hand import VOCABULARY, Texts, drawn_from, measure

L = 33
TEXT = Texts([32 + np.arange(4000) % 26])
STREAM = TEXT.stream("validation")
KEYS, VALUES = VOCABULARY.key_ids, VOCABULARY.value_ids


def task(**options):
    return MultiQueryRecall(**{"multiples": (1, 2), "trials": 40, "pairs": (2, 8)} | options)


def remembering(value_of):
    """A model that says value_of(values seen so far of the token) at every slot."""

    def model(tokens, last):
        logits = torch.zeros(*tokens.shape, VOCABULARY.size)
        for row, out in zip(tokens.tolist(), logits, strict=True):
            for at, key in enumerate(row):
                seen = [row[i + 1] for i in range(at) if row[i] == key]
                out[at, value_of(seen) if seen else VOCABULARY.bos] = 1
        return logits[:, -last:]

    return model


@pytest.mark.parametrize("length", [9, 32, 33, 64])
def test_every_key_comes_once_more_with_its_value_behind_it(length):
    pairs = (length - 1) // 4
    made = draw_associations(drawn_from(0, VOCABULARY, None, length), 50, pairs, 0.01)
    assert made[0].shape == (50, length) and (made[0][:, 0] == VOCABULARY.bos).all()
    for row, asked in zip(*made, strict=True):
        keys, values = row[1 : 1 + 2 * pairs : 2], row[2 : 2 + 2 * pairs : 2]
        assert len({*keys}) == len({*values}) == len({*asked}) == pairs
        assert set(keys) <= set(KEYS) and set(values) <= set(VALUES)
        assert (row[asked] == keys).all() and (row[asked + 1] == values).all()
        assert asked.min() > 2 * pairs and ((asked - 1 - 2 * pairs) % 2 == 0).all()


def test_gaps_follow_the_power_law():
    """p(g) ~ (g + 1)^(power - 1): the first draw of one record is one draw of that law."""
    _, asked = draw_associations(drawn_from(0, VOCABULARY, None, 43), 20000, 1, 0.2)
    gaps = (asked[:, 0] - 3) // 2
    law = np.arange(1, 21) ** -0.8
    np.testing.assert_allclose(np.bincount(gaps, minlength=20) / 20000, law / law.sum(), atol=0.01)


def test_scored_tokens_of_training_are_the_answers():
    rows, scored = MultiQuery(size=30, pairs=4).draw(drawn_from(1, VOCABULARY, STREAM, 32), 1.0)
    assert rows.shape == (30, 33) and scored.shape == (30, 32)
    for row, score in zip(rows.tolist(), scored, strict=True):
        pairs = int(score.sum())
        records = dict(zip(row[1 : 1 + 2 * pairs : 2], row[2 : 2 + 2 * pairs : 2], strict=True))
        answers = 1 + np.flatnonzero(score)
        assert {row[at - 1]: row[at] for at in answers} == records
        assert min(answers) > 2 * pairs + 1
    counts = {
        int(MultiQuery(size=1, pairs=4).draw(drawn_from(s, VOCABULARY, STREAM, 32), 1)[1].sum())
        for s in range(40)
    }
    assert counts == {1, 2, 3, 4}


def test_who_names_the_value_of_any_record_has_the_guess():
    rng = np.random.default_rng(0)

    def model(tokens, last):
        pairs = 8
        values = tokens[:, 2 : 2 + 2 * pairs : 2].numpy()
        named = rng.permuted(values, axis=1)[:, rng.integers(pairs, size=last)]
        return torch.nn.functional.one_hot(torch.from_numpy(named), VOCABULARY.size).double()

    result = measure(task(trials=400, pairs=(8,)), model, TEXT, L)
    found = {r["metric"]: r["value"] for r in result.rows if r.get("length") == 66}
    assert found["guess"] == 1 / 8 and found["accuracy"] == pytest.approx(1 / 8, abs=0.02)
    assert {r["status"] for r in result.rows} == {"ok", "not trained"}
    (chance,) = (r["value"] for r in result.rows if r["metric"] == "chance")
    assert chance == 1 / 16
