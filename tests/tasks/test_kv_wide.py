"""Keys and values of several tokens, on readers that match all of a key or a part of it."""

import numpy as np
import pytest
import torch

from extrap.data.wide import Wide
from extrap.tasks.kv_wide import KVWide
from tests.support.hand import VOCABULARY as V
from tests.support.hand import Texts, drawn_from, measure, speak, values

L = 30
TEXT = Texts([np.arange(4000) % 251])


def task(**options):
    return KVWide(**({"multiples": (1, 2), "trials": 20, "pool": 6} | options))


def matcher(part, width=2):
    """Names the value of the first record whose key agrees with the query in the tokens `part`."""

    def model(tokens, last):
        assert last == width
        said = []
        for row in tokens.tolist():
            start = next(t for t, token in enumerate(row) if token in V.key_ids)
            query = row[len(row) - 2 * width + 1 : len(row) - width + 1]
            keys = range(start, len(row) - 2 * width + 1, 2 * width)
            at = [t for t in keys if all(row[t + j] == query[j] for j in part)]
            said.append(row[at[0] + width : at[0] + 2 * width] if at else [V.bos] * width)
        return torch.cat([speak([s[j] for s in said], V) for j in range(width)], 1)

    return model


def test_who_matches_the_last_token_alone_takes_the_first_record_that_ends_alike():
    result = measure(task(trials=200, multiples=(1,)), matcher([1]), TEXT, L)
    found = [
        v for (*_, depth), v in sorted(values(result, "accuracy").items(), key=lambda kv: kv[0][2])
    ]
    assert found[0] == 1.0 and found == sorted(found, reverse=True) and found[-1] < 0.6
    assert {r["status"] for r in result.rows if "protocol" in r} == {"not trained"}
    assert set(values(result, "format").values()) == {1.0}


def test_half_a_value_is_no_answer_and_no_value_of_the_context():
    def model(tokens, last):
        logits = matcher(range(2))(tokens, last)
        logits[:, 1] = speak(torch.full((len(tokens),), 5), V)[:, 0]
        return logits

    result = measure(task(), model, TEXT, L)
    assert [set(values(result, m).values()) for m in ("accuracy", "format")] == [{0.0}, {0.0}]


@pytest.mark.parametrize("progress", [0.0, 1.0])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_every_training_answer_is_the_value_of_its_key(width, progress):
    part = Wide(size=80, width=width, pool=6 if width > 1 else 40)
    rows, scored = part.draw(
        drawn_from(0, V, TEXT.stream("validation").astype(np.uint16), 45), progress
    )
    for row, score in zip(rows.tolist(), scored, strict=True):
        start = next(t for t, token in enumerate(row) if token in V.key_ids)
        first = 1 + int(np.flatnonzero(score)[0]) - width
        units = {
            tuple(row[t : t + width]): row[t + width : t + 2 * width]
            for t in range(start, first, 2 * width)
        }
        assert len(units) >= 2 and (first - start) == 2 * width * len(units)
        for t in range(first, 46, 2 * width):
            key, answer = tuple(row[t : t + width]), row[t + width : t + 2 * width]
            assert len(key) < width or answer == units[key][: len(answer)]
        expected = [t for t in range(first, 46) if (t - first) % (2 * width) >= width]
        assert (np.flatnonzero(score) + 1).tolist() == expected
