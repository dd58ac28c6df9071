"""The three places of the query, on readers whose accuracy is known exactly."""

import numpy as np
import torch

from extrap.tasks.kv_query import KVQuery
from tests.support.hand import VOCABULARY, Texts, measure, reader, speak, values

L = 20
K = L // 2 - 2
TEXT = Texts([np.arange(4000) % 251])


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
    any_record = 1 / K + (1 - 1 / K) / 16
    guess = {form: value for (form, n), value in values(result, "guess").items() if n == L}
    assert guess == {"last": any_record, "both": any_record, "first": 1 / K}
    assert {v for (form, *_), v in values(result, "format").items()} == {1.0}, (
        "the value is one of the context, the key was wrong"
    )
