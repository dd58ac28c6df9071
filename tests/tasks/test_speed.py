"""The task `speed` by a clock that models move themselves, and bytes that are known."""

import numpy as np
import pytest
import torch

from extrap.model.inspection import InspectedModel
from extrap.model.scheme import OutOfRange
from extrap.tasks import speed
from extrap.tasks.speed import Speed
from tests.support.discover import gpt
from tests.support.hand import VOCABULARY, Texts, measure

L = 16
CORPUS = Texts([np.arange(200) % 256])


class Hand:
    """Reads a token in a second and trains on it in three; the first repeat of each is slow. Keeps
    40 bytes a token, twice.
    """

    def __init__(self):
        self.now, self.calls, self.shapes = 0.0, {}, set()

    def _spend(self, way, tokens, seconds):
        key = way, tokens.shape
        self.calls[key] = self.calls.get(key, -1) + 1
        self.shapes.add(tokens.shape)
        self.now += tokens.numel() * seconds * (100 if self.calls[key] == 0 else self.calls[key])

    def __call__(self, tokens, last):
        if tokens.shape[1] > 2 * L:
            raise OutOfRange("a table")
        self._spend("read", tokens, 1)
        return torch.zeros(len(tokens), last, VOCABULARY.size)

    def gradients(self, tokens, targets):
        assert tokens.shape == targets.shape and torch.equal(tokens[:, 1:], targets[:, :-1])
        self._spend("train", tokens, 3)
        x = torch.ones(10 * tokens.numel(), requires_grad=True)
        with torch.enable_grad():
            y = x * x
        return y.sum()


def rows(task, model, monkeypatch):
    monkeypatch.setattr(speed.time, "perf_counter", lambda: model.now)
    found = measure(task, model, CORPUS, L).rows
    return {
        (r["protocol"], r["length"], r["metric"]): (r["value"], r.get("low"), r.get("high"))
        for r in found
    }


def test_times_are_medians_and_the_first_is_no_time(monkeypatch):
    model = Hand()
    found = rows(Speed(multiples=(1, 2, 4), window_tokens=64, repeats=3), model, monkeypatch)
    for n in (L, 2 * L):
        assert found["read", n, "tokens_per_second"] == pytest.approx((1 / 2, 1 / 3, 1))
        assert found["train", n, "tokens_per_second"] == pytest.approx((1 / 6, 1 / 9, 1 / 3))
        assert found["train", n, "bytes_per_token"][0] == 40
    assert model.shapes == {(4, L), (2, 2 * L)} and len(found) == 6, (
        "64 tokens in whole windows; a length past the table is absent"
    )


def test_a_step_of_a_model_leaves_nothing_behind():
    model = gpt("rope")
    inspected, tokens = (
        InspectedModel(model, model, lambda layers: model),
        torch.randint(50, (2, 17)),
    )
    nll = inspected.gradients(tokens[:, :-1], tokens[:, 1:])
    expected = torch.nn.functional.cross_entropy(
        model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()
    )
    assert nll.item() == pytest.approx(expected.item(), rel=1e-6) and not nll.requires_grad
    assert all(p.grad is None for p in model.parameters())
