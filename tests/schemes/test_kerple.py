"""KERPLE against published values, the paper's formula as a loop, and its reductions."""

from math import log

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.alibi import ALiBi
from extrap.schemes.kerple import Kerple, KerpleLog, KerplePower
from tests.support import fixture_e
from tests.support.scheme_case import close

SHAPE = Shape(dim=12, heads=2, layers=2, length=64)


def with_values(cls: type[Kerple], shape: Shape, r1: list[float], r2: list[float]) -> Kerple:
    s = cls(shape).double()
    s.raw1.data, s.raw2.data = (s.inverse(torch.tensor(r, dtype=torch.float64)) for r in (r1, r2))
    return s


def distances(*n: float) -> torch.Tensor:
    return torch.tensor(n, dtype=torch.float64)


@pytest.mark.parametrize(
    "cls, r2, values",
    [
        (KerpleLog, 0.25, [0, -0.111571776, -0.626381484, -1.629048269]),
        (KerplePower, 0.75, [0, -0.5, -2.811706626, -15.811388301]),
    ],
)
def test_published_values(cls, r2, values):
    s = with_values(cls, fixture_e.SHAPE, [0.5], [r2])
    close(s.distance_bias(distances(0, 1, 10, 100), 0)[0].detach(), distances(*values), 1e-9)


@pytest.mark.parametrize("cls", [KerpleLog, KerplePower])
def test_the_papers_formula(cls):
    r1, r2 = [0.7, 1.3], [0.4, 1.7]
    b = with_values(cls, SHAPE, r1, r2).distance_bias(distances(*range(20)).view(4, 5), 0).detach()
    for h in range(2):
        for n in range(20):
            expected = -r1[h] * (log(1 + r2[h] * n) if cls is KerpleLog else n ** r2[h])
            assert float(b[h, n // 5, n % 5]) == pytest.approx(expected, abs=1e-12)


def test_reductions():
    slopes, d = [0.5, 0.125], distances(0, 1, 7, 1000)
    power = with_values(KerplePower, SHAPE, slopes, [1.0, 1.0])
    close(power.distance_bias(d, 0).detach(), ALiBi(SHAPE, slopes).distance_bias(d, 0), 1e-11)
    logarithmic = (
        with_values(KerpleLog, SHAPE, [0.5, 2.0], [1.0, 0.5])
        .distance_bias(distances(1e9, 2e9), 0)
        .exp()
        .detach()
    )
    close(
        logarithmic[:, 1] / logarithmic[:, 0], 2.0 ** -distances(0.5, 2.0), 1e-8
    )  # weights fall as n**-r1
    weak = with_values(KerpleLog, SHAPE, [0.02, 0.02], [0.02, 0.02])
    double = with_values(KerpleLog, SHAPE, [0.04, 0.04], [0.02, 0.02])
    close(
        double.distance_bias(d, 0), 2 * weak.distance_bias(d, 0)
    )  # proportional to r1: NoPE in the limit


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
