"""URPE against uniform attention, and a double loop from the paper; its stack on T5."""

import pytest
import torch

from extrap.model.scheme import Scheme, Shape
from extrap.schemes.t5 import T5
from extrap.schemes.urpe import URPE
from tests.support.discover import scheme
from tests.support.scheme_case import at, close, moved, qkv, weights

SHAPE = Shape(dim=12, heads=2, layers=2, length=64)


def with_factors(shape: Shape, *c: float) -> URPE:
    s = URPE(shape, len(c)).double()
    s.c.data = torch.tensor(c, dtype=torch.float64)[:, None].repeat(1, shape.heads)
    return s


@torch.no_grad()
def test_uniform_attention():
    s = with_factors(SHAPE, 1, 0.5, 2)
    q, k, _ = qkv(SHAPE, 3)
    a = weights(s, q * 0, k, at(s, 3))
    expected = torch.tensor([[1, 0, 0], [0.25, 0.5, 0], [2 / 3, 1 / 6, 1 / 3]], dtype=torch.float64)
    close(a, expected.expand(2, 2, 3, 3))
    close(a.sum(-1)[0, 0], torch.tensor([1, 0.75, 7 / 6], dtype=torch.float64))


@torch.no_grad()
def test_factors_that_say_nothing_and_factors_that_leave_the_query_alone():
    q, k, v = qkv(SHAPE, 9)
    s, nope = URPE(SHAPE).double(), Scheme(SHAPE)
    close(s.attend(q, k, v, at(s, 9)), nope.attend(q, k, v, at(s, 9)))
    s = with_factors(SHAPE, 1, 0)
    own = weights(nope, q, k, at(s, 9)).diagonal(dim1=-2, dim2=-1)
    close(s.attend(q, k, v, at(s, 9)), own[..., None] * v)


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


@torch.no_grad()
def test_the_stack_starts_as_t5():
    s, (q, k, v) = scheme("t5-urpe", SHAPE).double(), qkv(SHAPE, 20)
    s.parts[0].table.normal_()
    assert isinstance(s.parts[0], T5)
    close(s.attend(q, k, v, at(s, 20)), s.parts[0].attend(q, k, v, at(s, 20)))


def test_refusals():
    for span in (1, 65):
        with pytest.raises(ValueError, match=f"span={span}: must lie between 2 and 64"):
            URPE(SHAPE, span)
