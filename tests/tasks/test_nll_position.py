"""Loss by position on models whose loss at every position is known exactly."""

from functools import partial

import numpy as np
import pytest
import torch

from extrap.tasks.nll_position import NLLPosition, edges
from tests.support.hand import Texts, by_slot, measure, priced

L, N = 8, 64
ZEROS = Texts(np.zeros((3, N)))


def curve(result, protocol, metric="nll"):
    """{(first, last position) of a bin: value}."""
    rows = [
        r for r in result.rows if r["protocol"] == protocol and r["metric"] == metric and "at" in r
    ]
    found = {}
    for row in rows:
        width = row["tokens"] // row["n"]
        found[row["at"] - (width - 1) / 2, row["at"] + (width - 1) / 2] = row["value"]
    return found


def past(result, protocol, metric="nll"):
    (row,) = (
        r
        for r in result.rows
        if r["protocol"] == protocol and r["metric"] == metric and "at" not in r
    )
    return row


def test_every_position_is_in_one_bin_and_the_training_length_is_a_border():
    for n, length, bins in ((64, 8, 4), (100, 8, 1), (512, 64, 4), (80, 64, 3), (30, 7, 2)):
        found = edges(n, length, bins)
        assert found[0] == 1
        assert found[-1] == n + 1
        assert length + 1 in found
        assert found == sorted(set(found))
    assert edges(64, 8, 1) == [1, 2, 3, 5, 9, 17, 33, 65]


def test_a_loss_by_slot_is_read_off_exactly():
    """1 / (1 + j) nats with j slots before the last: full sees p - 1 of them, windowed at most L -
    1 and at least L - S.
    """
    loss = 1 / (1 + torch.arange(1, N + 1, dtype=torch.float64))
    result = measure(NLLPosition(multiples=(8,), documents=3), partial(by_slot, loss), ZEROS, L)
    assert {r["axis"] for r in result.rows if "at" in r} == {"position"}
    whole, slots = loss.numpy(), np.arange(N)
    windowed = np.where(
        slots < L, whole, whole[L - 1]
    )  # a stride of one eighth of eight tokens is one token
    for protocol, expected in (("full", whole), ("windowed", windowed)):
        found = curve(result, protocol)
        assert len(found) == len(edges(N, L, 4)) - 1
        for (first, last), value in found.items():
            assert value == pytest.approx(expected[int(first) - 1 : int(last)].mean(), abs=1e-12)
        bits = [value / np.log(2) for value in found.values()]
        assert [*curve(result, protocol, "bits_per_byte").values()] == pytest.approx(bits)
        assert past(result, protocol)["value"] == pytest.approx(expected[L:].mean(), abs=1e-12)
        assert past(result, protocol)["tokens"] == 3 * (N - L)


def test_full_and_windowed_score_the_same_tokens_once():
    text = np.arange(2 * N).reshape(2, N)
    model, cost = priced()
    result = measure(NLLPosition(multiples=(4, 8), documents=2), model, Texts(text), L)
    for item in (i for i in result.items if i["metric"] == "nll_sum"):
        assert item["value"] == pytest.approx(
            cost[text[item["item"], L : item["length"]]].sum(), abs=1e-12
        )
    assert {(i["protocol"], i["length"]) for i in result.items} == {
        (p, n) for p in ("full", "windowed") for n in (32, 64)
    }
    for row in result.rows:
        if "at" in row and row["metric"] == "nll" and row["length"] == 64:
            width = row["tokens"] // 2
            first = int(row["at"] - (width - 1) / 2) - 1
            assert row["value"] == pytest.approx(
                cost[text[:, first : first + width]].mean(), abs=1e-12
            )
