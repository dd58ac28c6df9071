"""Stick-breaking against the paper's formula as a double loop."""

from math import exp, prod

import pytest
import torch

from extrap.model import attention as kernels
from extrap.model.scheme import Scheme, Shape, Where
from extrap.model.stack import Stack
from extrap.schemes.alibi import ALiBi
from extrap.schemes.stick_breaking import StickBreaking
from extrap.schemes.window import Window
from tests.support.scheme_case import at, close, qkv, weights

SHAPE = Shape(dim=16, heads=2, layers=1, length=16)
T = 12


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


@pytest.mark.parametrize("current", ["excluded", "included"])
@pytest.mark.parametrize("rows", [1, 5, 256])
def test_the_papers_formula(current, rows, monkeypatch):
    monkeypatch.setattr(kernels, "ROWS", rows)
    s, (q, k, v) = StickBreaking(SHAPE, current), qkv(SHAPE, T)
    z = (q @ k.mT * s.scale).tolist()
    a = torch.zeros(2, 2, T, T, dtype=torch.float64)
    for b in range(2):
        for h in range(2):
            for i in range(T):
                keys = range(i if current == "excluded" else i + 1)
                share = [sigmoid(z[b][h][i][j]) for j in keys]
                for j in keys:
                    a[b, h, i, j] = share[j] * prod(1 - share[m] for m in keys if m > j)
    close(weights(s, q, k, at(s, T)), a)
    close(kernels.attention(s, q, k, v, at(s, T)), a @ v)
    assert (a.sum(-1) <= 1).all() and (a[:, :, 0].sum(-1) == 0).all() == (current == "excluded")


def test_what_a_mask_hides_takes_no_share():
    """Under a window of W tokens it is what it would be on the W tokens alone."""
    s = Stack(SHAPE, [StickBreaking(SHAPE), Window(SHAPE, 4)])
    q, k, v = qkv(SHAPE, T)
    here = Where.whole(torch.arange(T).double(), s.scale, sees=s.sees)
    alone = StickBreaking(SHAPE)
    last = alone.attend(q[:, :, -4:], k[:, :, -4:], v[:, :, -4:], at(alone, 4))[:, :, -1]
    close(kernels.attention(s, q, k, v, here)[:, :, -1], last)


def test_long_texts_neither_underflow_nor_lose_gradients():
    s, n = StickBreaking(SHAPE), 3000
    q, k, v = (z.requires_grad_() for z in qkv(SHAPE, n, batch=1, dtype=torch.float32))
    o = kernels.attention(s, q * 10, k, v, at(s, n))
    o.square().sum().backward()
    assert all(z.isfinite().all() for z in (o, q.grad, k.grad, v.grad))
    exact = s.attend(q.double() * 10, k.double(), v.double(), at(s, n))
    close(o.double(), exact, 1e-4)


def test_a_bias_keeps_its_level():
    """Where softmax does not see a constant, this does: it is not taken off."""

    class Level(Scheme):
        def distance_bias(self, d, layer):
            return 3 - d.expand(2, *d.shape)

    q, k, v = qkv(SHAPE, T)
    high = Stack(SHAPE, [StickBreaking(SHAPE), Level(SHAPE)])
    z = q @ k.mT * high.scale + 3 - at(high, T).distance
    z = z.masked_fill(~at(high, T).visible, -torch.inf)
    close(kernels.attention(high, q, k, v, at(high, T)), high.normalise(z, at(high, T)) @ v)
    zero = Stack(SHAPE, [StickBreaking(SHAPE), ALiBi(SHAPE)])
    assert kernels.kernel(zero, at(zero, T)) is kernels.explicit
