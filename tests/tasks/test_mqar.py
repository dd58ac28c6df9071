"""Multi-query associative recall, on readers whose accuracy is known exactly."""

import numpy as np
import pytest
import torch

from extrap.tasks.mqar import MultiQueryRecall
from tests.support.hand import VOCABULARY, Texts, measure

L = 33
TEXT = Texts([32 + np.arange(4000) % 26])
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
