"""The three places of the query, on readers whose accuracy is known exactly."""

import numpy as np
import pytest
import torch

from extrap.data.query import FORMS
from extrap.tasks.kv_query import KVQuery
from tests.support.hand import VOCABULARY, Texts, measure, reader, speak, values

L = 20
K = L // 2 - 2
TEXT = Texts([np.arange(4000) % 251])
KEYS, VALUES = VOCABULARY.key_ids, VOCABULARY.value_ids


def task(**options):
    return KVQuery(**({"multiples": (1, 2, 4), "trials": 12} | options))


def looks_up():
    """Names the value after a key, and after a BOS at the end the key after the first BOS."""

    def model(tokens, last):
        n, said = tokens.shape[1], []
        for end in range(n - last + 1, n + 1):
            key, read = tokens[:, end - 1], tokens[:, 2 : end - 1]  # the records alone
            found = read == key[:, None]
            value = read[
                torch.arange(len(read)), (found.double().argmax(1) + 1).clamp(max=read.shape[1] - 1)
            ]
            value = torch.where(found.any(1), value, VOCABULARY.bos)
            said.append(torch.where(key == VOCABULARY.bos, tokens[:, 1], value))
        return torch.cat([speak(ids) for ids in said], 1)

    return model


def test_who_reads_the_end_alone_knows_two_forms_of_three():
    """A reader of the last key fails `first`, which names the key before it; the others are ok."""

    def model(tokens, last):
        value = reader(lambda slot, length: slot > 1)(tokens, 1)
        return torch.cat([speak(torch.full((len(tokens),), 3))] * (last - 1) + [value], 1)

    result = measure(task(), model, TEXT, L)
    assert values(result, "gate") == {("last", L): 1.0, ("both", L): 1.0, ("first", L): 0.0}
    assert {r["protocol"] for r in result.rows if r["status"] == "not trained"} == {"first"}
    assert {v for (form, *_), v in values(result, "format").items()} == {1.0}, (
        "the value is one of the context, the key was wrong"
    )


def test_guessing_a_record_is_the_guess_line():
    rng = np.random.default_rng(0)

    def model(tokens, last):
        records = (
            tokens[:, 2 : 2 + 2 * ((tokens.shape[1] - 4) // 2)].numpy().reshape(len(tokens), -1, 2)
        )
        said = records[np.arange(len(tokens)), rng.integers(records.shape[1], size=len(tokens))]
        return torch.cat([speak(said[:, j]) for j in range(2 - last, 2)], 1)

    result = measure(task(trials=400, multiples=(1,)), model, TEXT, L)
    guess, accuracy = values(result, "guess"), values(result, "accuracy")
    assert guess == {
        ("last", L): 1 / K + (1 - 1 / K) / 16,
        ("both", L): 1 / K + (1 - 1 / K) / 16,
        ("first", L): 1 / K,
    }
    for form in FORMS:
        assert np.mean([v for (f, *_), v in accuracy.items() if f == form]) == pytest.approx(
            guess[form, L], abs=0.025
        )
    chance = {r["protocol"]: r["value"] for r in result.rows if r["metric"] == "chance"}
    assert chance == {"last": 1 / 16, "both": 1 / 16, "first": 1 / 16 / VOCABULARY.keys}
