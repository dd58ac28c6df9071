"""Retrieval on readers whose accuracy is known exactly."""

import numpy as np
import pytest
import torch

from extrap.data.keyvalue import Padded
from extrap.data.vocabulary import Vocabulary
from extrap.results.stats.intervals import wilson
from extrap.tasks.kv import KV
from tests.support.hand import Texts, measure, oracle, reader, speak, values, window

L = 20
TEXT = Texts([np.arange(4000) % 251])
CELL = ("accuracy", "restricted", "format")
CURVE = ("primacy", "recency", "u_depth", "tilt", "mid")


def task(**options):
    return KV(**({"multiples": (1, 2, 4), "trials": 12, "pairs": 5} | options))


def test_an_oracle_finds_everything_everywhere():
    result = measure(task(), reader(oracle), TEXT, L)
    for metric in CELL:
        found = values(result, metric)
        assert len(found) == 2 * 3 * 7 and set(found.values()) == {1.0}
    assert {r["status"] for r in result.rows} == {"ok"}
    assert values(result, "gate") == {("records", L): 1.0}
    for metric in CURVE:
        assert set(values(result, metric).values()) == {1.0 if metric == "mid" else 0.0}
    cells = [r for r in result.rows if r["metric"] in CELL]
    assert all(
        (r["low"], r["high"]) == wilson(12, 12) and r["n"] == r["tokens"] == 12 for r in cells
    )


@pytest.mark.parametrize("width", [2, 9, 20, 33, 60])
def test_a_window_is_a_step_at_its_width(width):
    """A record is found where its key stands in the window. Places come from the layout of the
    page, not from the task.
    """
    found = values(measure(task(), reader(window(width)), TEXT, L), "accuracy")
    for (protocol, length, depth), accuracy in found.items():
        index = round(depth * (length // 2 - 2))
        slot = 1 + 2 * index if protocol == "records" else 1 + Padded(5).gold(length, depth)
        assert accuracy == (slot >= length - width), (protocol, length, depth)
    assert len(set(found.values())) == 2 or width == 2


def test_items_tell_the_place_of_the_record():
    result = measure(task(), reader(window(33)), TEXT, L)
    items = {
        (i["protocol"], i["length"], i["depth"], i["metric"], i["item"]): i["value"]
        for i in result.items
    }
    assert len(items) == len(result.items) == 2 * 3 * 7 * (12 + 3)
    assert items["records", 80, 0.0, "distance", "all"] == 80 - 2
    assert items["records", 80, 1.0, "distance", "all"] == 2
    assert items["records", 80, 1.0, "index", "all"] == 80 // 2 - 2
    assert items["padded", 80, 1.0, "index", "all"] == 4
    for (protocol, length, depth, metric, item), value in items.items():
        if metric == "accuracy":
            assert value == (items[protocol, length, depth, "distance", "all"] < 33)
            assert item in range(12)


def test_the_last_record_alone_is_recency():
    """No value occurs twice here: naming the last one is right at depth 1 and nowhere else."""
    vocabulary = Vocabulary(keys=64, values=5000)
    result = measure(
        task(multiples=(1,)), lambda t, last: speak(t[:, -2], vocabulary), TEXT, L, vocabulary
    )
    found = {
        depth: v
        for (protocol, _, depth), v in values(result, "accuracy").items()
        if protocol == "records"
    }
    assert found == {depth: float(depth == 1) for depth in found}
    curve = {m: values(result, m)["records", L] for m in CURVE}
    assert curve == {"primacy": 0, "recency": 1, "u_depth": 0.5, "tilt": 1, "mid": 0}
    assert set(values(result, "format").values()) == {
        1.0,
        0.0,
    }  # in padded contexts text stands at the end, except at depth 1
    assert values(result, "gate")["records", L] == pytest.approx(1 / 7)


def test_a_right_value_behind_another_token_is_right_among_values_only():
    """A tag on top of the answer breaks exact match and format, not the restricted score."""

    def model(tokens, last):
        return reader(oracle)(tokens, last) + 2 * speak(torch.full((len(tokens),), 7))

    result = measure(task(), model, TEXT, L)
    assert [set(values(result, metric).values()) for metric in CELL] == [{0.0}, {1.0}, {0.0}]


@pytest.mark.parametrize(("missed", "status"), [(1, "ok"), (2, "not trained")])
def test_the_gate_is_nine_tenths_of_records_at_the_training_length(missed, status):
    """Ten depths, the first one or two out of the window at the training length; longer contexts
    and padding do not count.
    """
    depths = [i / 9 for i in range(10)]
    width = 22 - 2 * missed - 1

    def sees(slot, length):
        return slot >= (length - width if length == 22 else length)

    result = measure(task(multiples=(1, 2), depths=depths), reader(sees), TEXT, 22)
    assert values(result, "gate")["records", 22] == pytest.approx(1 - missed / 10)
    assert {r["status"] for r in result.rows} == {status}
