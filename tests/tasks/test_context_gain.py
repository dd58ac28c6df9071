"""What context is worth to models of which that is known."""

from functools import partial

import numpy as np
import pytest
import torch

from extrap.tasks.context_gain import ContextGain
from tests.support.hand import Texts, bigram, by_slot, measure, priced, values
from tests.tasks.test_nll import chain

L, N = 8, 64
ZEROS = Texts(np.zeros((3, N)))
SLOWLY = 1 / (1 + torch.arange(1, N + 1, dtype=torch.float64))


def test_a_loss_that_falls_with_context_gives_the_gains_of_hand():
    result = measure(
        ContextGain(multiples=(1, 1.25, 1.5, 2, 4, 8), documents=3),
        partial(by_slot, SLOWLY),
        ZEROS,
        L,
    )
    nll, gain, loss = values(result, "nll"), values(result, "gain"), SLOWLY.numpy()
    ends = {c: loss[c - 4 : c].mean() for c in (4, 8, 10, 12, 16, 32, 64)}
    past = (10, 12, 16, 32, 64)
    expected = {("full", c): value for c, value in ends.items()}
    expected |= {("crop", c): ends[8] for c in past} | {
        ("window", c): loss[7] for c in past if c >= 12
    }
    assert nll == pytest.approx(expected, abs=1e-12)
    assert gain == pytest.approx(
        {where: value - ends[4] for where, value in expected.items() if where != ("full", 4)},
        abs=1e-12,
    )
    assert gain["full", 8] < 0
    assert {r["status"] for r in result.rows} == {"ok"}
    assert all(r["n"] == 3 and r["tokens"] == 12 for r in result.rows)


def test_the_same_tokens_are_scored_in_every_context_and_protocol():
    text = np.arange(2 * N).reshape(2, N)
    model, cost = priced()
    result = measure(ContextGain(documents=2), model, Texts(text), L)
    sums = {
        (i["protocol"], i["length"], i["item"]): i["value"]
        for i in result.items
        if i["metric"] == "nll_sum"
    }
    assert len(sums) == 2 * (5 + 3 + 3)
    for (_, _, item), value in sums.items():
        assert value == pytest.approx(cost[text[item, N - 4 :]].sum(), abs=1e-12)


@pytest.mark.parametrize("worse", [False, True])
def test_a_model_that_does_not_gain_within_its_training_length_is_marked(worse):
    loss = torch.full((N,), 0.25, dtype=torch.float64)
    loss[6:] += 0.5 * worse
    rows = measure(ContextGain(documents=3), partial(by_slot, loss), ZEROS, L).rows
    assert {r["status"] for r in rows} == {"not trained"}


def test_gains_are_paired_by_document():
    """Documents differ much more than contexts do; a chain whose first token alone is starved gains
    the same in each.
    """
    text, log_p = chain(documents=30)
    result = measure(
        ContextGain(multiples=(1, 2), documents=30), partial(bigram, log_p), Texts(text), L
    )
    losses = -log_p[text[:, :-1], text[:, 1:]].numpy()
    starved = (losses[:, 11] - np.log(4)) / 4
    (row,) = (
        r
        for r in result.rows
        if r["metric"] == "gain" and (r["protocol"], r["length"]) == ("full", 16)
    )
    assert row["value"] == pytest.approx(starved.mean())
    items = [
        i["value"]
        for i in result.items
        if i["metric"] == "gain" and (i["protocol"], i["length"]) == ("full", 16)
    ]
    np.testing.assert_allclose(items, starved, atol=1e-12)
    assert row["low"] == pytest.approx(
        np.mean(starved) - 1.96 * np.std(starved) / np.sqrt(30), abs=0.02
    )
