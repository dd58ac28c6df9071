"""KERPLE against the paper's formula as a loop; its gradients and its draws."""

from math import log

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.kerple import Kerple, KerpleLog, KerplePower

SHAPE = Shape(dim=12, heads=2, layers=2, length=64)


def with_values(cls: type[Kerple], shape: Shape, r1: list[float], r2: list[float]) -> Kerple:
    s = cls(shape).double()
    s.raw1.data, s.raw2.data = (s.inverse(torch.tensor(r, dtype=torch.float64)) for r in (r1, r2))
    return s


def distances(*n: float) -> torch.Tensor:
    return torch.tensor(n, dtype=torch.float64)


@pytest.mark.parametrize("cls", [KerpleLog, KerplePower])
def test_the_papers_formula(cls):
    r1, r2 = [0.7, 1.3], [0.4, 1.7]
    b = with_values(cls, SHAPE, r1, r2).distance_bias(distances(*range(20)).view(4, 5), 0).detach()
    for h in range(2):
        for n in range(20):
            expected = -r1[h] * (log(1 + r2[h] * n) if cls is KerpleLog else n ** r2[h])
            assert float(b[h, n // 5, n % 5]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("cls", [KerpleLog, KerplePower])
def test_gradient_is_finite_at_distance_zero_and_alive_at_the_ends(cls):
    s = cls(SHAPE)
    s.distance_bias(distances(0), 0).sum().backward()
    assert s.raw1.grad.isfinite().all() and s.raw2.grad.isfinite().all()
    for r2 in (0.011, 5.0):
        s = with_values(cls, SHAPE, [0.02, 1.0], [r2, r2])
        b = s.distance_bias(distances(3), 0)
        b.sum().backward()
        assert (s.raw1.grad < 0).all() and (s.raw2.grad < 0).all()
        if cls is KerplePower:
            assert b.detach().min() >= -9.0 - 1e-9  # the exponent is at most 2


@pytest.mark.parametrize("cls", [KerpleLog, KerplePower])
def test_drawn_within_the_published_range_and_never_below_its_floor(cls):
    torch.manual_seed(0)
    s = cls(Shape(dim=400, heads=200))
    for raw, high in zip((s.raw1, s.raw2), cls.highest, strict=True):
        r = s.r(raw, distances())
        assert r.min() > 0.01 and 0.9 * high < r.max() < high
        raw.data.fill_(-1e4)
        assert (s.r(raw, distances()) == torch.tensor(0.01)).all()
