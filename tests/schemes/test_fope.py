"""FoPE: the series of the paper as a loop, and which frequencies are left."""

from math import cos, pi, sin

import pytest

from extrap.model.scheme import Shape
from extrap.schemes.fope import FoPE
from tests.support.scheme_case import at, qkv

SHAPE = Shape(dim=32, heads=2, length=64)  # 8 pairs, 1 to 10**-3.5; 2 pi / 64 is .098
LONG = Shape(dim=32, heads=2, length=10**5)


@pytest.mark.parametrize("shape, W, P", [(SHAPE, 3, 3), (LONG, 8, 4)])
def test_the_papers_series(shape, W, P):
    s, T = FoPE(shape), 5
    assert s.A.shape == s.B.shape == (2, W, P)
    q, k, _ = qkv(shape, T)
    turned = s.rotate(q, k, at(s, T))
    for x, y in zip((q, k), turned, strict=True):
        for h in range(2):
            for t in range(T):
                for p in range(8):
                    a, b = (float(z) for z in x[0, h, t, 2 * p : 2 * p + 2])
                    c, d = 1.0, 0.0
                    if p < P:
                        theta = [10000 ** (-n / 8) for n in range(W)]
                        c = sum(float(s.A[h, n, p]) * cos(t * theta[n]) for n in range(W))
                        d = sum(float(s.B[h, n, p]) * sin(t * theta[n]) for n in range(W))
                    expected = complex(a, b) * complex(c, d)
                    assert y[0, h, t, 2 * p] == pytest.approx(expected.real, abs=1e-12)
                    assert y[0, h, t, 2 * p + 1] == pytest.approx(expected.imag, abs=1e-12)


def test_no_frequency_is_left_that_training_never_turned_once():
    for length in (7, 64, 1000):
        theta = FoPE(Shape(dim=32, heads=2, length=length)).theta
        assert (theta * length > 2 * pi).all() and theta[0] == 1
