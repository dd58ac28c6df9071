"""Recall of lists, on readers whose recall is known exactly."""

import numpy as np
import pytest
import torch

from extrap.data.recall import MARKS, RecallForm
from extrap.results import rows
from extrap.results.comparison import cells
from extrap.tasks.recall import ListRecall
from tests.support.hand import VOCABULARY, Texts, measure, values

L = 32
TEXT = Texts([32 + np.arange(4000) % 26])
KEYS = VOCABULARY.key_ids


def task(**options):
    return ListRecall(**{"multiples": (0.5, 1, 2), "trials": 30} | options)


def naming(chosen):
    """A model whose most likely tokens are chosen(items, mark), the first foremost."""

    def model(tokens, last):
        assert last == 1
        logits = torch.zeros(len(tokens), 1, VOCABULARY.size)
        for row, out in zip(tokens.tolist(), logits[:, 0], strict=True):
            items = [t for t in row[:-1] if t >= KEYS[MARKS] and t in KEYS]
            for rank, token in enumerate(chosen(items, row[-1])):
                out[token] += 1000 - rank
        return logits

    return model


def test_who_compares_runs_finds_the_items_of_their_rows(tmp_path):
    result = measure(task(), naming(lambda items, mark: items[-3:]), TEXT, L)
    run = {"run": "a-12345678-s0", "study": "s", "scheme": "a", "data": "recall", "seed": 0}
    run |= {"extension": "direct", "task": "recall", "train_length": L, "config": "c"}
    rows.write(tmp_path / "rows" / "a.csv", [run | {"corpus": "c"} | row for row in result.rows])
    rows.write_items(tmp_path / "items" / "a.csv", result.items)
    (found,) = cells.opened(tmp_path)
    scores, lacking = cells.items(cells.on_disk(tmp_path), found)
    assert len(scores) > 2 and not lacking


def test_who_knows_the_end_of_a_list_alone_is_recency_itself():
    """Eight last items in their order: span names four others than its last four."""
    result = measure(task(), naming(lambda items, mark: items[-8:]), TEXT, L)
    recall = {at: v for at, v in values(result, "recall").items() if at[:2] == ("recall", L)}
    n = RecallForm().records(L)
    assert recall[("recall", L)] == pytest.approx(8 / n)
    assert [recall[("recall", L, d)] for d in (0, 0.5, 0.9, 1)] == [0, 0, 1, 1]
    assert values(result, "recency")[("recall", L)] == pytest.approx(2 / 3)
    assert values(result, "primacy")[("recall", L)] == pytest.approx(-1 / 3)
    assert values(result, "recall")[("span", L)] == 0
    assert {r["status"] for r in result.rows} == {"not trained"}


def test_naming_items_at_random_is_the_guess_and_naming_keys_at_random_chance():
    rng = np.random.default_rng(0)
    lists = task(trials=600, multiples=(1, 2))
    any_item = measure(lists, naming(lambda items, mark: rng.permutation(items)), TEXT, L)
    any_key = measure(lists, naming(lambda *_: rng.permutation(KEYS[MARKS:])), TEXT, L)
    for result, metric in ((any_item, "guess"), (any_key, "chance")):
        expected = values(result, metric)
        found = values(result, "recall")
        for at, value in expected.items():
            assert found[at] == pytest.approx(value, abs=0.02)
    assert values(any_item, "guess")[("recall", L)] == 1
    assert values(any_item, "guess")[("span", L)] == 4 / 30
    assert values(any_key, "chance")[("span", L)] == 4 / 62
