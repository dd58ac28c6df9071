"""Repeated text on models that copy, forget at a known distance, see one token, and guess."""

from functools import partial

import numpy as np
import pytest
import torch

from extrap.tasks.repeat import Repeat
from tests.support.hand import VOCABULARY, Texts, bigram, measure, values

L = 8


def noise(documents=12, tokens=40, symbols=200, seed=0):
    """Texts in which no token can be told from those before it."""
    return np.random.default_rng(seed).integers(symbols, size=(documents, tokens))


def distinct(documents=12, tokens=40):
    """Texts in which no token comes twice."""
    return np.stack([np.random.default_rng(i).permutation(200)[:tokens] for i in range(documents)])


def copier(reach=10**9):
    """Says what stood one period back: the least by which the text read so far repeats, all of it
    where it does not, at most `reach`.
    """

    def model(tokens, last):
        said = torch.full((len(tokens), last), VOCABULARY.bos)
        for row, text in enumerate(tokens.tolist()):
            for slot in range(len(text) - last, len(text)):
                read = text[1 : slot + 1]
                periods = (p for p in range(1, min(len(read), reach) + 1) if read[p:] == read[:-p])
                said[row, slot - len(text) + last] = next(
                    (read[-p] for p in periods), VOCABULARY.bos
                )
        return 50.0 * torch.nn.functional.one_hot(said, VOCABULARY.size).double()

    return model


def test_an_exact_copier_is_right_on_later_copies_and_nowhere_else():
    result = measure(Repeat(multiples=(1, 2, 4), documents=12), copier(), Texts(distinct()), L)
    found, nll, gain = (
        values(result, "accuracy"),
        values(result, "nll"),
        next(row for row in result.rows if row["metric"] == "gain"),
    )
    for n in (16, 32):
        assert found["later", n] == 1 and nll["later", n] == pytest.approx(0, abs=1e-12)
        assert found["repeated", n] == (n - L) / n
    assert [found["nonrepeated", n] for n in (8, 16, 32)] == [0, 0, 0]
    assert found["within", L] == gain["value"] == gain["low"] == gain["high"] == 1


def test_a_reader_of_one_token_gives_the_sums_of_hand():
    """Losses depend on the token before alone: a double loop adds up every window and copy."""
    text, log_p = (
        noise(5, 40, 4),
        torch.randn(VOCABULARY.size, VOCABULARY.size, generator=torch.Generator().manual_seed(0)),
    )
    result = measure(
        Repeat(multiples=(1, 2, 4), period=0.5, documents=5), partial(bigram, log_p), Texts(text), L
    )
    loss = -log_p.log_softmax(-1)
    sums = {}
    for document in text:
        for n in (8, 16, 32):
            for start in range(0, 32 - n + 1, n):
                plain = document[start : start + n]
                for name, y in (
                    ("nonrepeated", plain),
                    ("repeated", [plain[i % 4] for i in range(n)]),
                ):
                    before = [VOCABULARY.bos, *y[:-1]]
                    for slot, (a, b) in enumerate(zip(before, y, strict=True)):
                        sums.setdefault((name, n), []).append(float(loss[a, b]))
                        if name == "repeated" and slot >= 4:
                            sums.setdefault(("later", n), []).append(float(loss[a, b]))
    found = values(result, "nll")
    assert {k: v for k, v in found.items() if k[0] != "within"} == {
        place: pytest.approx(np.mean(v), abs=1e-6) for place, v in sums.items()
    }
    assert found["within", 8] == pytest.approx(found["later", 8])


def test_who_cannot_see_a_period_back_gains_nothing():
    result = measure(
        Repeat(multiples=(1, 2, 4), documents=12), copier(reach=3), Texts(distinct()), L
    )
    assert set(values(result, "accuracy").values()) == set(values(result, "gain").values()) == {0}
