"""The gap probe: coordinates written down by hand, and schemes whose answer is known."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from extrap.model.inspection import InspectedModel
from extrap.model.scheme import Where
from extrap.tasks.gap import Gap
from tests.support.discover import gpt
from tests.support.hand import Texts, measure, values

L, N = 16, 4
TEXTS = Texts(np.random.default_rng(0).integers(30, size=(5, 2 * N)))
TASK = Gap(multiples=(0.5, 1, 3), share=0.25, documents=5, batch_tokens=16)


class Words:
    """Ids of the small models of tests, which have 50."""

    bos = 49


def found(name, **options):
    model = gpt(name, length=L, **options)
    inside = InspectedModel(model, model, lambda layers: model)
    return model, measure(TASK, inside, TEXTS, L, Words())


def by_hand(model, coordinates, tokens, targets):
    """Mean loss of the last N targets with every token at a given coordinate."""
    t = torch.as_tensor(coordinates, dtype=torch.float64)
    sees = model.scheme.sees if model.scheme.uses("sees") else None
    model.where = lambda tokens: Where.whole(
        model.scheme.positions(t), model.scheme.scale, tokens=tokens, sees=sees
    )
    with torch.no_grad():
        logits = model(tokens)[:, -N:]
    del model.where
    return float(F.cross_entropy(logits.flatten(0, 1), targets[:, -N:].flatten()))


@pytest.mark.parametrize("name", ["rope", "alibi", "kerple-log", "sinusoidal", "rope-logn", "nope"])
def test_losses_at_written_coordinates(name):
    model, result = found(name)
    text = torch.from_numpy(np.stack(TEXTS.all).astype(np.int64))
    tokens = torch.cat([torch.full((5, 1), 49), text[:, :-1]], 1)
    nll = values(result, "nll")
    first = [0, 1, 2, 3]
    for length in (8, 16, 48):
        expected = by_hand(model, first + [length + i for i in range(N)], tokens, text)
        assert nll["jump", length] == pytest.approx(expected, abs=1e-9)
    plain = by_hand(model, range(2 * N), tokens, text)
    assert nll["none", N] == pytest.approx(plain, abs=1e-9)
    half = torch.cat([torch.full((5, 1), 49), text[:, N:-1]], 1)
    alone = by_hand(model, range(N), half, text)
    assert nll["alone", N] == pytest.approx(alone, abs=1e-9)
    change = values(result, "change")
    assert change["jump", 48] == pytest.approx(nll["jump", 48] - plain, abs=1e-9)
    assert change["alone", N] == pytest.approx(alone - plain, abs=1e-9)


def test_a_model_without_positions_feels_no_gap():
    _, result = found("nope")
    change = values(result, "change")
    assert [change["jump", n] for n in (8, 16, 48)] == pytest.approx([0, 0, 0], abs=1e-12)


def test_a_window_does_not_see_across_a_gap_that_is_longer():
    """In the long text the tokens in between would fill it."""
    model = gpt("window", length=L)
    model.scheme.width = 3
    nll = values(measure(TASK, InspectedModel(model, model, None), TEXTS, L, Words()), "nll")
    text = torch.from_numpy(np.stack(TEXTS.all).astype(np.int64))
    with torch.no_grad():
        logits = model(text[:, N - 1 : -1])
    expected = float(F.cross_entropy(logits.flatten(0, 1), text[:, N:].flatten()))
    assert [nll["jump", n] for n in (16, 48)] == pytest.approx([expected] * 2, abs=1e-9)
    assert abs(nll["none", N] - expected) > 1e-6


def test_the_model_is_as_it_was():
    model, _ = found("rope")
    assert type(model.scheme).__name__ == "RoPE"
