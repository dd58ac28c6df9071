"""Which tokens a long context helps, and the loss on them, on models of which both are known."""

import numpy as np
import pytest
import torch

from extrap.tasks.long_loss import LongLoss, matched
from tests.support.hand import VOCABULARY, Texts, measure, values

L = 16


def by_loop(text, start, match, far):
    """`matched` written as it is defined, one place at a time."""
    out = np.zeros((len(text), text.shape[1] - start), bool)
    for d, row in enumerate(text.tolist()):
        for t in range(max(start, match), len(row)):
            last = None
            for p in range(match, t):
                if row[p - match : p] == row[t - match : t]:
                    last = p
            out[d, t - start] = last is not None and t - last > far and row[last] == row[t]
    return out


@pytest.mark.parametrize("match", [1, 2, 3])
@pytest.mark.parametrize("far", [0, 5, 20])
def test_matches_are_those_of_a_loop(match, far):
    text = np.random.default_rng(0).integers(12 // match**2 + 2, size=(9, 90))
    found = matched(text, 30, match, far)
    np.testing.assert_array_equal(found, by_loop(text, 30, match, far))
    assert found.any() and not found.all()


def test_a_token_that_is_told_by_a_near_match_is_left_out():
    text = np.zeros((1, 78), int)
    text[0, :8] = text[0, 70:78] = np.arange(1, 9)
    assert np.flatnonzero(matched(text, 60, 3, 20)[0]).tolist() == [13, 14, 15, 16, 17]
    text[0, 50:58] = np.arange(1, 9)  # the same words again, 20 tokens back
    assert not matched(text, 60, 3, 20)[0, 13:].any()


def far_reader(reach, better=0.25, worse=6.0):
    """A model of `worse` nats on every token, but of `better` on those that the last match of
    three tokens within `reach` tells.
    """

    def model(tokens, last):
        logits = torch.zeros(len(tokens), last, VOCABULARY.size, dtype=torch.float64)
        rest = VOCABULARY.size - 1
        for row, out in zip(tokens.tolist(), logits, strict=True):
            for j in range(last):
                t = len(row) - last + j + 1  # of the token that is predicted
                out[j] = -worse
                for p in range(max(4, t - reach), t):
                    if row[p - 3 : p] == row[t - 3 : t] and t >= 4:
                        out[j] = np.log(-np.expm1(-better) / rest)
                        out[j, row[p]] = -better
        return logits

    return model


def documents():
    rng = np.random.default_rng(0)
    rows = rng.integers(200, size=(6, 4 * L))
    rows[:, -8:] = rows[:, 10:18]  # 46 tokens back: further than 2 L
    return rows


def task(**options):
    return LongLoss(**{"multiples": (1, 2, 4), "match": 3, "documents": 6} | options)


def test_far_tokens_cost_less_once_the_context_reaches_them():
    result = measure(task(), far_reader(reach=60), Texts(documents()), L)
    nll, share = values(result, "nll"), {r["protocol"]: r for r in result.rows if "length" not in r}
    assert share["match"]["value"] == pytest.approx(5 / 8)
    plain = float(np.log(VOCABULARY.size))  # equal logits of -worse are a uniform guess
    for c in (8, 16, 32):
        assert nll["match", c] == pytest.approx(plain) == nll["all", c]
    assert nll["match", 64] == pytest.approx(0.25)
    assert nll["all", 64] == pytest.approx((5 * 0.25 + 3 * plain) / 8)
    assert share["own"]["value"] == 0 and not [at for at in nll if at[0] == "own"]
    tokens = [i["value"] for i in result.items if i["metric"] == "tokens" and i["length"] == 64]
    assert sorted(tokens) == [5] * 6 + [8] * 6


def test_own_tokens_are_those_that_the_training_length_helped():
    rows = documents()
    rows[:, -4:] = rows[:, -16:-12]  # 12 back: within L, not within L / 2
    result = measure(task(), far_reader(reach=14), Texts(rows), L)
    nll = values(result, "nll")
    plain = float(np.log(VOCABULARY.size))
    assert nll["own", 8] == pytest.approx(plain)
    assert {round(nll["own", c], 9) for c in (16, 32, 64)} == {0.25}
    (share,) = (r for r in result.rows if r["metric"] == "share" and r["protocol"] == "own")
    assert share["value"] == pytest.approx(1 / 8)
