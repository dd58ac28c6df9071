"""Multi-document question answering on readers whose accuracy is known exactly."""

import numpy as np
import pytest
import torch

from extrap.data.facts import Template
from extrap.results.stats.intervals import wilson
from extrap.tasks.multidoc import MultiDoc
from tests.support.hand import VOCABULARY, Texts, measure, speak, values

L = 64
TEXT = Texts([np.full(4000, ord("x"))])
TEMPLATE = Template.of(VOCABULARY, 2)


def task(**options):
    return MultiDoc(**{"multiples": (1, 2), "trials": 12, "facts": 2, "top": (1, 4, 10)} | options)


def reader():
    """Says the object of the subject and the relation that are asked for; else BOS."""

    def model(tokens, last):
        assert last == 1
        found = (tokens == tokens[:, -1:]) & (tokens.roll(1, 1) == tokens[:, -2:-1])
        found[:, -1] = False
        at = found.double().argmax(1)
        return speak(
            torch.where(found.any(1), tokens[torch.arange(len(tokens)), at + 1], VOCABULARY.bos)
        )

    return model


def test_an_oracle_finds_everything_that_is_there():
    result = measure(task(), reader(), TEXT, L)
    accuracy = {
        k: v for k, v in values(result, "accuracy").items() if k[0] in ("ordered", "shuffled")
    }
    assert len(accuracy) == 2 * 2 * 7 and set(accuracy.values()) == {1.0}
    assert {r["status"] for r in result.rows} == {"ok"}
    assert values(result, "gate") == {("ordered", L): 1.0}
    lines = {
        r["protocol"]: r["value"]
        for r in result.rows
        if r["metric"] == "accuracy" and r["protocol"] in ("oracle", "closed_book")
    }
    assert lines == {"oracle": 1.0, "closed_book": 0.0}
    cells = [r for r in result.rows if r["metric"] == "accuracy" and r["value"] == 1]
    assert all((r["low"], r["high"]) == wilson(12, 12) and r["n"] == 12 for r in cells)


def test_a_perfect_reader_of_a_weak_retriever_is_as_good_as_what_is_handed_over():
    result = measure(task(trials=80, top=(1, 2, 5, 10, 20), hit=0.2), reader(), TEXT, L)
    rows = {(r["at"], r["metric"]): r for r in result.rows if r.get("protocol") == "retrieved"}
    for k in (1, 2, 5, 10, 20):
        assert rows[k, "accuracy"]["value"] == rows[k, "handed"]["value"]
        assert rows[k, "handed"]["low"] <= 1 - 0.8**k <= rows[k, "handed"]["high"]
        assert rows[k, "accuracy"]["length"] == 1 + k * TEMPLATE.width + TEMPLATE.each


def test_items_tell_the_place_in_tokens():
    result = measure(task(multiples=(1,)), reader(), TEXT, L)
    items = {
        (i["protocol"], i.get("depth"), i["metric"], i["item"]): i["value"] for i in result.items
    }
    near, far = (items["ordered", depth, "distance", "all"] for depth in (1.0, 0.0))
    assert 7 + 1 - 3 < near < 7 + 1, "the subject of either fact of the document is the gold one"
    assert far - near == 7 * 7
    assert items["ordered", 1.0, "index", "all"] == 7 and items["ordered", 0.5, "accuracy", 3] == 1


def test_chance_is_a_value_and_the_guess_a_fact_of_the_context():
    rows = measure(task(trials=2), reader(), TEXT, L)
    assert [r["value"] for r in rows.rows if r["metric"] == "chance"] == [1 / 16]
    eight_documents_of_two_facts = 1 / 16 + 15 / 16 / 16
    assert values(rows, "guess")["ordered", L] == pytest.approx(eight_documents_of_two_facts)
