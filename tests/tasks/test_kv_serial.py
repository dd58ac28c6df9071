"""Every index of a context, on readers that see some slots and not others."""

import numpy as np
import pytest
import torch

from extrap.model.scheme import OutOfRange
from extrap.results.stats.intervals import wilson
from extrap.tasks.kv_serial import KVSerial
from extrap.utils.errors import UserError
from tests.support.hand import VOCABULARY, Texts, checked, measure, oracle, reader, window

L = 20
TEXT = Texts([np.arange(4000) % 251])


def task(**options):
    return KVSerial(**({"trials": 8} | options))


def curve(result, metric="accuracy"):
    return {
        (r["length"], r["at"]): r["value"]
        for r in result.rows
        if r["metric"] == metric and "at" in r
    }


def test_an_oracle_finds_every_index():
    result = measure(task(), reader(oracle), TEXT, L)
    every = {(n, i) for n in (L, 2 * L) for i in range(n // 2 - 1)}
    for metric in ("accuracy", "restricted", "format"):
        assert curve(result, metric) == dict.fromkeys(every, 1.0)
    assert {r["status"] for r in result.rows} == {"ok"}
    assert all(
        (r["low"], r["high"]) == wilson(8, 8) for r in result.rows if r["metric"] == "accuracy"
    )
    items = {(i["length"], i["item"]) for i in result.items}
    assert len(items) == len(result.items) == 8 * len(every) + 2


@pytest.mark.parametrize("width", [5, 20])
def test_a_window_is_a_step_at_its_width(width):
    for (length, index), accuracy in curve(measure(task(), reader(window(width)), TEXT, L)).items():
        assert accuracy == (1 + 2 * index >= length - width)


def test_a_hole_of_one_record_shows():
    found = curve(
        measure(task(multiples=(1,)), reader(lambda slot, length: slot != 1 + 2 * 3), TEXT, L)
    )
    assert found == {(L, i): float(i != 3) for i in range(9)}


def test_the_gate_is_the_mean_over_indices():
    result = measure(task(), reader(lambda slot, length: slot > 1), TEXT, L)
    assert [r["value"] for r in result.rows if r["metric"] == "gate"] == [pytest.approx(8 / 9)]
    assert {r["status"] for r in result.rows} == {"not trained"}


def test_other_records_are_the_same_at_every_index():
    seen = []

    def model(tokens, last):
        seen.append(tokens.numpy())
        return torch.zeros(len(tokens), 1, VOCABULARY.size)

    measure(task(multiples=(1,)), model, TEXT, L)
    rest = {
        b"".join(p.tobytes() for row in batch for p in row[1:-1].reshape(-1, 2) if p[0] != row[-1])
        for batch in seen
    }
    assert len(seen) == 9 and len(rest) == 1


def test_lengths_past_a_table_are_absent():
    def model(tokens, last):
        if tokens.shape[1] > L:
            raise OutOfRange("past the table")
        return reader(oracle)(tokens, last)

    assert {n for n, _ in curve(measure(task(), model, TEXT, L))} == {L}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"multiples": [2]}, r"task\.kv-serial\.multiples=\[2\]: the multiples must include 1"),
        ({"multiples": [1, 8]}, r"data\.vocabulary\.keys=64: 79 records"),
        ({"trials": 0}, r"task\.kv-serial\.trials=0"),
        ({"batch_tokens": 0}, r"task\.kv-serial\.batch_tokens=0"),
    ],
)
def test_bad_input_is_one_line(options, message):
    with pytest.raises(UserError, match=message) as error:
        checked(task(), options, TEXT, VOCABULARY, L)
    assert "\n" not in str(error.value)
