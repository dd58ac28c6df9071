"""Every measurement on schemes made by hand, whose answer is known."""

from math import isnan, sqrt

import pytest
import torch

from extrap.audit.properties import (
    axes,
    codes,
    cost,
    decay,
    deterministic,
    far,
    length,
    norm,
    order,
    shift,
    unique,
)
from extrap.audit.subject import SHAPE
from extrap.model.scheme import Scheme
from tests.support.made_schemes import (
    Fading,
    Geometric,
    Longer,
    Made,
    Noise,
    OfKey,
    Slope,
    Squares,
    Steps,
    Swapped,
    TrainingNoise,
    Unit,
)

L = SHAPE.length


@pytest.mark.parametrize(
    "cls, places",
    [(Scheme, 1), (Slope, 64), (Steps, 16), (OfKey, 64), (Geometric, 64), (Swapped, 1)],
)
def test_places_that_are_told_apart(cls, places):
    assert unique.measure(Made(cls)) == {"unique": places}


@pytest.mark.parametrize(
    "cls, said", [(Scheme, "always"), (TrainingNoise, "at test"), (Noise, "never")]
)
def test_repetition(cls, said):
    before = torch.get_rng_state()
    assert deterministic.measure(Made(cls)) == {"deterministic": said}
    assert torch.equal(torch.get_rng_state(), before)


def test_codes_of_one_dimension_have_a_residual_in_closed_form():
    assert isnan(codes.measure(Made(Slope))["linear_codes"])
    assert codes.measure(Made(Geometric))["linear_codes"] < 1e-12
    i = torch.arange(L, dtype=torch.float64) ** 2
    expected = max(
        sqrt(1 - float(i[:-k] @ i[k:]) ** 2 / float((i[:-k] @ i[:-k]) * (i[k:] @ i[k:])))
        for k in (1, 7)
    )
    assert codes.measure(Made(Squares))["linear_codes"] == pytest.approx(expected, rel=1e-9)


def test_sinusoids_are_rotated_into_each_other_and_squares_need_more_than_one_channel():
    p = torch.stack([torch.arange(L, dtype=torch.float64) ** n for n in range(3)], 1)
    assert codes.residual(p, 7) < 1e-12
    assert codes.residual(p[:, 2:], 7) > 0.01


def test_distances_at_any_length():
    assert length.measure(Made(Slope))["same_at_any_length"] < 1e-12
    assert length.measure(Made(OfKey))["same_at_any_length"] > 0.1


def test_shifts():
    assert max(shift.measure(Made(Slope)).values()) == 0
    moved = shift.measure(Made(OfKey))
    assert moved["shift_1e2"] / moved["shift_3"] == pytest.approx(100 / 3, rel=0.02)
    assert isnan(moved["shift_1e4"]) and isnan(moved["shift_1e6"])


@pytest.mark.parametrize(
    "cls, change", [(Scheme, 0), (Swapped, 0), (Slope, 0), (Longer, 0.63), (Fading, 0.75)]
)
def test_norms(cls, change):
    measured = norm.measure(Made(cls))["norm"]
    if cls is Longer:  # its form at the last query is (1.63)**2 I
        assert measured == pytest.approx(1.63**2 - 1)
    else:
        assert measured == pytest.approx(change, abs=1e-12)


def test_growth():
    assert far.measure(Made(Scheme)) == {"defined": 1024, "growth": pytest.approx(1)}
    slope = far.measure(Made(Slope))
    assert slope["growth"] == pytest.approx(8, rel=0.01)
    assert far.measure(Made(OfKey))["defined"] == 1
    assert isnan(far.measure(Made(OfKey))["growth"])


def test_order():
    plain, sloped = order.measure(Made(Scheme)), order.measure(Made(Slope))
    assert plain["order_1"] < 1e-14 < 1e-3 < plain["order_2"]
    assert sloped["order_1"] > 1e-3


def test_decay():
    """The bias falls by 0.1 (47.5 - 1.5) whatever the content, whose logits have a standard
    deviation of 1.
    """
    fallen = decay.measure(Made(Slope))
    flat = decay.measure(Made(Scheme))
    assert flat["decay_aligned"] == pytest.approx(0, abs=1e-12)
    assert abs(flat["decay_gaussian"]) < 0.1
    assert fallen["decay_aligned"] == pytest.approx(4.6, rel=0.02)
    assert fallen["decay_gaussian"] == pytest.approx(fallen["decay_aligned"], rel=0.05)


@pytest.mark.parametrize("cls, real", [(Scheme, False), (Slope, True), (Steps, False)])
def test_half_a_token(cls, real):
    assert axes.measure(Made(cls)) == {"real": real, "axes": 1}


def test_multiply_adds_are_counted():
    with cost.Count() as count:
        torch.randn(3, 5) @ torch.randn(5, 7)
    assert count.multiply_adds == 3 * 5 * 7 + 3 * 5 + 5 * 7  # the two draws write an element each
    assert count.bytes == 4 * (3 * 7 + 3 * 5 + 5 * 7)
    q, k, v = torch.zeros(3, 1, 2, 4, 8)
    with cost.Count() as count:
        torch.nn.functional.scaled_dot_product_attention(q, k, v)
    assert count.multiply_adds == 2 * (2 * 4 * 4 * 8)


def test_cost_over_nope():
    shape, nope = cost.SHAPE, cost.measure(Made(Scheme))
    assert nope == {"parameters": 0, "multiply_adds": 0, "bytes": 0, "kernel": "fused"}
    more = cost.measure(Made(Unit))
    T, C = shape.length, shape.dim
    model = (
        2 * (T * C * 12 * C + 2 * T * T * C) + T * C * shape.vocab
    )  # projections, MLP and attention; the head
    added = 2 * T * C * shape.head_dim
    assert more["multiply_adds"] == pytest.approx(added / model, rel=0.05)
    assert more["bytes"] > 0
