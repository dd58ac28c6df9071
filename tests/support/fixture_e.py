"""Fixture E: q, k, v of four tokens, one head of width 4, with published weights and outputs of row
3 for every scheme.
"""

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Where

SHAPE = Shape(dim=4, heads=1, layers=1, length=4)


def qkv() -> tuple[Tensor, Tensor, Tensor]:
    """q[i, c] = sin(1 + 4i + c), k[j, c] = cos(2 + 4j + c), v[j, c] = sin((4j + c) / 2), each (1,
    1, 4, 4) float64.
    """
    n = torch.arange(16, dtype=torch.float64).view(1, 1, 4, 4)
    return (1 + n).sin(), (2 + n).cos(), (n / 2).sin()


def place(scheme: Scheme, x: Tensor | None = None) -> Where:
    t = scheme.positions(torch.arange(4, dtype=torch.float64))
    sees = scheme.sees if scheme.uses("sees") else None
    return Where.whole(t, scheme.scale, sees=sees, x=x)


def weights(scheme: Scheme) -> Tensor:
    """(4, 4): the weight of each value, read off by mixing unit vectors; right for every scheme
    whose mix is linear in v.
    """
    q, k, _ = qkv()
    at = place(scheme)
    return scheme.attend(q, k, torch.eye(4, dtype=torch.float64)[None, None], at)[0, 0]


def outputs(scheme: Scheme) -> Tensor:
    """(4, 4): the output of the four rows."""
    return scheme.attend(*qkv(), place(scheme))[0, 0]


def check(scheme: Scheme, a: str | None, o: str, tolerance: float = 2e-9) -> None:
    """Row 3 of weights and outputs against the published digits (nine decimals, so half a unit of
    the last is allowed too).
    """
    scheme = scheme.double()
    if a is not None:
        torch.testing.assert_close(weights(scheme)[3], _row(a), atol=tolerance, rtol=0)
    torch.testing.assert_close(outputs(scheme)[3], _row(o), atol=tolerance, rtol=0)


def _row(digits: str) -> Tensor:
    return torch.tensor([float(x) for x in digits.split()], dtype=torch.float64)
