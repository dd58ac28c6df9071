"""TUPE against a double loop from the paper; its policies past L."""

import pytest
import torch

from extrap.model.functional import bucket, sinusoid
from extrap.model.scheme import OutOfRange, Shape
from extrap.schemes.t5 import T5
from extrap.schemes.tupe import TUPE
from tests.support.scheme_case import around, at, close, lower, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=2, length=32, vocab=20)


@pytest.mark.parametrize("past", ["raise", "sinusoidal"])
@pytest.mark.parametrize("reset", ["bos", "none"])
@torch.no_grad()
def test_the_papers_sum(past, reset):
    s, T = moved(TUPE(SHAPE, T5(SHAPE, 8, 16), past=past, reset=reset)), 7
    q, k, _ = qkv(SHAPE, T)
    ours = s.attend(q, k, torch.eye(T, dtype=torch.float64).expand(2, 2, T, T), at(s, T, layer=1))
    p = sinusoid(torch.arange(T), 12) if past == "sinusoidal" else s.table[:T]
    p = torch.nn.functional.layer_norm(p, (12,), s.norm.weight, s.norm.bias)
    for h in range(2):
        own = slice(6 * h, 6 * h + 6)
        for i in range(1, T):
            logits = []
            for j in range(i + 1):
                b = (p[i] @ s.query)[own] @ (p[j] @ s.key)[own] / 12**0.5 + s.relative.table[
                    bucket(torch.tensor(i - j), 8, 16), h
                ]
                if reset == "bos" and j == 0:
                    b = s.theta[h]
                logits.append(q[1, h, i] @ k[1, h, j] / 12**0.5 + b)
            close(ours[1, h, i, : i + 1], torch.stack(logits).softmax(0))


@torch.no_grad()
def test_policies_past_the_table():
    def model(past):
        return around(TUPE(SHAPE, past=past))

    x = torch.arange(40)[None] % 20
    with pytest.raises(OutOfRange):
        model("raise")(x)
    assert model("raise")(x[:, :32]).isfinite().all()
    assert model("sinusoidal")(x).isfinite().all()
    t = torch.tensor([31, 32, 1000], dtype=torch.float64)
    p = model("clamp").scheme.place(t)
    assert torch.equal(p[0], p[1]) and torch.equal(p[0], p[2])
    p = model("sinusoidal").scheme.place(t)
    assert (p[0] - p[1]).abs().max() > 0.01


@torch.no_grad()
def test_projections_are_made_once_for_all_layers(monkeypatch):
    s, T = moved(TUPE(SHAPE)), 5
    q, k, _ = qkv(SHAPE, T)
    place, calls = at(s, T), []
    monkeypatch.setattr(s, "projected", lambda a, make=s.projected: calls.append(1) or make(a))
    first = s.bias(q, k, place.at_layer(0, None))
    assert torch.equal(first, s.bias(q, k, place.at_layer(1, None))) and len(calls) == 1
    assert first.shape == (2, T, T) and first[..., lower(T)].isfinite().all()
