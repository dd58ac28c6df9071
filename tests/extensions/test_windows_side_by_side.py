"""Texts read in several windows at once: NBCE and parallel context windows."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.extensions.nbce import NBCE, entropy, merged
from extrap.extensions.parallel_windows import Windows
from extrap.model.scheme import Shape, Where
from tests.support import discover
from tests.support.scheme_case import close, lower, text

L = 16


def logs(*rows: float) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64).log()


def test_tokens_impossible_without_context_are_not_divided_by_their_probability():
    out = merged(
        logs(0.5, 0.3, 0.2), torch.tensor([-0.01, -4.6, -math.inf], dtype=torch.float64), 0.25
    )
    assert out.isfinite().all()
    close(
        out[2] - out[0],
        math.log(0.2) - (1.25 * math.log(0.5) + 0.25 * 0.01) + torch.zeros((), dtype=torch.float64),
    )
    assert float(entropy(torch.tensor([0.0, -math.inf], dtype=torch.float64), 0.95)) == 0


def by_hand(model, x: torch.Tensor, e: NBCE, predictions: int) -> torch.Tensor:
    """(B, predictions, V) for the end of x (B, T); loops over texts, predictions and contexts, all
    of Python's own arithmetic.
    """
    window, out = L - predictions, []
    for line in x.tolist():
        bos, cut = line[0], len(line) - predictions + 1
        contexts, end = [], cut
        while end > 1:
            contexts.insert(0, line[max(1, end - window) : end])
            end -= window
        winner, answers = None, []
        for t in range(predictions):
            shared = line[cut : cut + t]
            rows = [
                model(torch.tensor([[bos, *c, *shared]]))[0, -1].log_softmax(-1)
                for c in (*contexts, [])
            ]
            *rows, alone = rows
            if e.pool == "mean":
                pooled = torch.stack(rows).mean(0)
            else:
                surest = []
                for k, r in enumerate(rows):
                    h = total = 0.0
                    for log_p in r.sort(descending=True).values.tolist():
                        if total < e.top_p:
                            h -= math.exp(log_p) * max(log_p, -100)
                        total += math.exp(log_p)
                    surest.append(h - (e.stickiness if k == winner else 0))
                winner = surest.index(min(surest))
                pooled = rows[winner]
            beta = len(rows) - 1 if e.beta is None else e.beta
            answers.append(((1 + beta) * pooled - beta * alone).log_softmax(-1))
        out.append(torch.stack(answers))
    return torch.stack(out)


@pytest.mark.parametrize(
    "e",
    [
        NBCE(),
        NBCE(stickiness=0.0, top_p=1.0),
        NBCE(stickiness=5.0, top_p=0.5, beta=0.0),
        NBCE(pool="mean", beta=None),
        NBCE(window=11),
    ],
)
@pytest.mark.parametrize("T", [L + 1, 41])
@torch.no_grad()
def test_equals_a_reading_by_hand(e, T):
    model, x = discover.gpt("rope", length=L), text(T)
    predictions = L - (e.window or L // 2)
    close(e(model)(x, last=predictions), by_hand(model, x, e, predictions), 1e-9)


@torch.no_grad()
def test_earlier_predictions_have_readings_of_their_own():
    model, x, e = discover.gpt("rope", length=L), text(34, batch=1), NBCE()
    out = e(model)(x)
    end = 34
    while end > L:
        close(out[:, end - 8 : end], by_hand(model, x[:, :end], e, 8), 1e-9)
        end -= 8
    close(out[:, :end], model(x[:, :end]))
    for last in (1, 3, 8, 9, 20, 34):
        close(e(model)(x, last=last), out[:, -last:])


def lists(T: int, length: int, c: int) -> tuple[list[int], torch.Tensor]:
    """Coordinates, and who sees whom."""
    end = T - (length - c - 1)
    groups, stop = [list(range(end, T))], end
    while stop > 1:
        groups.append(list(range(max(1, stop - c), stop)))
        stop = groups[-1][0]
    place, sees = [0] * T, lower(T)
    for windows, group in enumerate(groups):
        last = length - 1 if windows == 0 else c
        for i in group:
            place[i] = last - (group[-1] - i)
            sees[i] &= torch.tensor([windows == 0 or j == 0 or j in group for j in range(T)])
    return place, sees


@given(T=st.integers(1, 60), length=st.integers(4, 20), data=st.data(), rows=st.integers(1, 60))
@settings(max_examples=40, deadline=None)
def test_places_and_sight(T, length, data, rows):
    c = data.draw(st.integers(1, length - 2))
    scheme = Windows(Shape(dim=8, heads=1, length=length), c)
    t = torch.arange(T, dtype=torch.float64)
    place, sees = (t.tolist(), lower(T)) if length >= T else lists(T, length, c)
    found = scheme.positions(t)
    assert found.tolist() == place
    assert found.max() < length
    at = Where.whole(found, 1.0, sees=scheme.sees)
    assert torch.equal(at.visible, sees)
    start = max(0, T - rows)
    assert torch.equal(at.block(start, T).visible, sees[start:])
