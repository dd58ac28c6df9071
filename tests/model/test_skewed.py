"""Entries by distance without an index: a double loop, forward and backward, where the rows are
fewer or more than the keys, in blocks, and where the way by copies is not open.
"""

from dataclasses import replace

import pytest
import torch

from extrap.model import functional
from extrap.model.functional import gather
from extrap.model.scheme import Where


def whole(T: int, spacing: float = 1.0) -> Where:
    return Where.whole(torch.arange(T, dtype=torch.float64) * spacing, 1.0)


BLOCKS = [(9, 0, 9), (40, 0, 17), (40, 17, 40), (40, 39, 40), (64, 16, 48), (1, 0, 1)]


@pytest.mark.parametrize("T, first, stop", BLOCKS)
@pytest.mark.parametrize("size", [1, 3, 40, 64])
def test_by_distance(T, first, stop, size, monkeypatch):
    at = whole(T).block(first, stop)
    n, keys = stop - first, stop
    rows = torch.randn(2, 3, n, size, dtype=torch.float64, requires_grad=True)
    expected, weight = (torch.zeros(2, 3, n, keys, dtype=torch.float64) for _ in range(2))
    for a in range(n):
        for j in range(first + a + 1):
            expected[..., a, j] = rows.detach()[..., a, min(first + a - j, size - 1)]
            weight[..., a, j] = torch.randn(2, 3)
    monkeypatch.setattr(functional, "gather", None)  # the copies serve it
    got = functional.by_distance(rows, at)
    assert torch.equal(got.detach().masked_fill(~at.visible, 0), expected)
    (ours,) = torch.autograd.grad(got, rows, weight)
    plain = torch.zeros_like(ours)
    for a in range(n):
        for j in range(first + a + 1):
            plain[..., a, min(first + a - j, size - 1)] += weight[..., a, j]
    torch.testing.assert_close(ours, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("spacing", [1.0, 0.5, 2.0])
def test_steps_are_distances_of_coordinates(spacing):
    at = whole(20, spacing).block(6, 20)
    rows = torch.randn(1, 2, 14, 7)
    got = functional.by_step(rows, at)
    wanted = gather(rows, at.steps.clamp(max=6))
    assert torch.equal(got.masked_fill(~at.visible, 0), wanted.masked_fill(~at.visible, 0))


def some(rows) -> Where:
    return replace(whole(20), q=whole(20).q[rows], i=whole(20).i[rows])


@pytest.mark.parametrize(
    "at",
    [
        some([3, 9, 12]),  # rows of an extension that reads some layers or lengths by themselves
        some(slice(2, 9)),  # all keys, though the last query is not the last of them
        replace(whole(20), causal=False),
        replace(whole(20), j=whole(20).j.flip(0), k=whole(20).k.flip(0)),
    ],
)
def test_other_orders_are_gathered(at):
    rows = torch.randn(1, 2, len(at.i), 7)
    wanted = gather(rows, at.back.clamp(0, 6))
    assert torch.equal(functional.by_distance(rows, at), wanted)
