"""Every index of a context, on readers that see some slots and not others."""

import numpy as np
import pytest

from extrap.tasks.kv_serial import KVSerial
from tests.support import hand
from tests.support.hand import Texts, measure, reader

L = 20
TEXT = Texts([np.arange(4000) % 251])


def task(**options):
    return KVSerial(**({"trials": 8} | options))


def curve(result, metric="accuracy"):
    return hand.cells(result, metric, "length", "at")


def test_a_hole_of_one_record_shows():
    found = curve(
        measure(task(multiples=(1,)), reader(lambda slot, length: slot != 1 + 2 * 3), TEXT, L)
    )
    assert found == {(L, i): float(i != 3) for i in range(9)}


def test_the_gate_is_the_mean_over_indices():
    result = measure(task(), reader(lambda slot, length: slot > 1), TEXT, L)
    assert [r["value"] for r in result.rows if r["metric"] == "gate"] == [pytest.approx(8 / 9)]
    assert {r["status"] for r in result.rows} == {"not trained"}
