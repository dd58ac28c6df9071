"""URPE on T5 against a double loop from the paper."""

import torch

from extrap.model.scheme import Shape
from tests.support.discover import scheme
from tests.support.scheme_case import at, close, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=2, length=64)


@torch.no_grad()
def test_the_papers_sum_on_t5():
    s, T = moved(scheme("t5-urpe", SHAPE)), 40
    (t5, urpe), (q, k, v) = s.parts, qkv(SHAPE, T)
    ours, bias = (
        s.attend(q, k, v, at(s, T)),
        t5.distance_bias(torch.arange(T, dtype=torch.float64), 0),
    )
    assert urpe.span == 32
    for h in range(2):
        for i in (0, 1, 17, 31, 39):
            e = torch.stack(
                [q[1, h, i] @ k[1, h, j] / 6**0.5 + bias[h, i - j] for j in range(i + 1)]
            )
            a = e.softmax(0)
            close(
                ours[1, h, i],
                sum(a[j] * urpe.c[min(i - j, 31), h] * v[1, h, j] for j in range(i + 1)),
            )
