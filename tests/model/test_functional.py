"""Reading and summing by distance: double loops, at sizes on both sides of the faster ways."""

import pytest
import torch

from extrap.model.functional import gather_of_keys, scatter, sum_by_steps
from extrap.model.scheme import Where


def block(T: int, first: int, spacing: float = 1.0) -> Where:
    return Where.whole(torch.arange(T, dtype=torch.float64) * spacing, 1.0).block(first, T)


@pytest.mark.parametrize(
    "T, first, last", [(5, 0, 4), (40, 0, 3), (40, 17, 5), (40, 17, 6), (64, 63, 8)]
)
@pytest.mark.parametrize("spacing", [1.0, 0.5])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_sum_by_steps(T, first, last, spacing, dtype):
    at = block(T, first, spacing)
    a = torch.rand(2, 3, T - first, T).masked_fill(~at.visible, 0).to(dtype).requires_grad_()
    sums = torch.zeros(2, 3, T - first, last + 1, dtype=torch.float64)
    for row in range(T - first):
        for j in range(first + row + 1):
            n = min(int((first + row - j) * spacing), last)
            sums[..., row, n] += a.detach()[..., row, j].double()
    got = sum_by_steps(a, at, last)
    tolerance = 1e-12 if dtype == torch.float64 else 2e-2
    torch.testing.assert_close(got.double(), sums, rtol=tolerance, atol=tolerance)
    g = torch.randn(got.shape).to(dtype)
    (ours,) = torch.autograd.grad(got, a, g)
    (plain,) = torch.autograd.grad(scatter(a, at.steps.clamp(max=last), last + 1), a, g)
    torch.testing.assert_close(
        ours.masked_fill(~at.visible, 0),
        plain.masked_fill(~at.visible, 0),
        rtol=tolerance,
        atol=tolerance,
    )


def test_gather_of_keys():
    rows = torch.randn(2, 3, 7, 4, dtype=torch.float64, requires_grad=True)
    n = torch.randint(4, (5, 7))
    got = gather_of_keys(rows, n)
    expected = torch.zeros(2, 3, 5, 7, dtype=torch.float64)
    for i in range(5):
        for j in range(7):
            expected[..., i, j] = rows.detach()[..., j, n[i, j]]
    assert torch.equal(got.detach(), expected)
    g = torch.randn_like(got)
    (ours,) = torch.autograd.grad(got, rows, g)
    plain = torch.zeros_like(ours)
    for i in range(5):
        for j in range(7):
            plain[..., j, n[i, j]] += g[..., i, j]
    torch.testing.assert_close(ours, plain, rtol=1e-12, atol=1e-12)
