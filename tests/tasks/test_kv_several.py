"""Several queries of one context: answers are independent, or stand and fall together."""

import numpy as np
import pytest
import torch

from extrap.tasks.kv_several import KVSeveral
from tests.support.hand import VOCABULARY as V
from tests.support.hand import Texts, eliminating, measure, oracle, reader, speak

L, Q = 24, 4
TEXT = Texts([np.arange(4000) % 251])


def task(**options):
    return KVSeveral(**({"queries": Q, "trials": 30} | options))


def answering(sees=oracle, knows=lambda tokens, query: torch.ones(len(tokens), dtype=torch.bool)):
    """Reads each prefix that ends with a query; says BOS where it does not know."""

    def model(tokens, last):
        assert last == 2 * Q - 1
        out = []
        for back in range(last, 0, -1):
            prefix = tokens[:, : tokens.shape[1] - back + 1]
            out.append(
                torch.where(
                    knows(tokens, last - back)[:, None, None],
                    reader(sees)(prefix, 1),
                    speak(torch.full((len(tokens),), V.bos)),
                )
            )
        return torch.cat(out, 1)

    return model


def value(result, metric, length=L, at=None):
    (found,) = (
        r
        for r in result.rows
        if (r["metric"], r.get("length"), r.get("at")) == (metric, length, at)
    )
    return found["value"], found.get("low"), found.get("high")


def test_answers_that_stand_and_fall_together_are_as_many_samples_as_contexts():
    """Half of the contexts are answered."""
    result = measure(
        task(trials=200, multiples=(1,)),
        answering(knows=lambda tokens, query: tokens[:, 1] % 2 == 0),
        TEXT,
        L,
    )
    mean, low, high = value(result, "accuracy")
    assert value(result, "all")[0] == mean
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(mean * (1 - mean) / 200), rel=0.1)


def test_the_curve_over_queries_shows_which_are_missed():
    result = measure(
        task(),
        answering(knows=lambda tokens, query: torch.full((len(tokens),), query != 2)),
        TEXT,
        L,
    )
    assert [value(result, "accuracy", L, at)[0] for at in (1, 2, 3, 4)] == [1, 0, 1, 1]
    assert value(result, "all")[0] == 0
    assert value(result, "accuracy")[0] == 0.75 == value(result, "gate")[0]
    assert {r["status"] for r in result.rows} == {"not trained"}


def test_the_guess_is_by_elimination():
    """A reader that names a record whose value was not told yet."""
    model = eliminating(np.random.default_rng(0))
    result = measure(task(trials=3000, multiples=(1,)), model, TEXT, L)
    expected = np.mean(
        [1 / k + (1 - 1 / k) / V.values for k in range(L // 2 - Q, L // 2 - 2 * Q, -1)]
    )
    (guess,) = (r["value"] for r in result.rows if r["metric"] == "guess")
    assert guess == pytest.approx(expected)
    assert value(result, "accuracy")[0] == pytest.approx(guess, abs=0.02)
