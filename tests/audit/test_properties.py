"""Every measurement on schemes made by hand, whose answer is known."""

from math import isnan, sqrt

import pytest
import torch

from extrap.audit import cost, distance, logits, outputs
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
    Steep,
    SteepBesideASink,
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
    assert logits.unique(Made(cls)) == places


@pytest.mark.parametrize(
    "cls, said", [(Scheme, "always"), (TrainingNoise, "at test"), (Noise, "never")]
)
def test_repetition(cls, said):
    before = torch.get_rng_state()
    assert outputs.deterministic(Made(cls)) == said
    assert torch.equal(torch.get_rng_state(), before)


def test_codes_of_one_dimension_have_a_residual_in_closed_form():
    assert isnan(outputs.linear_codes(Made(Slope)))
    assert outputs.linear_codes(Made(Geometric)) < 1e-12
    i = torch.arange(L, dtype=torch.float64) ** 2
    expected = max(
        sqrt(1 - float(i[:-k] @ i[k:]) ** 2 / float((i[:-k] @ i[:-k]) * (i[k:] @ i[k:])))
        for k in (1, 7)
    )
    assert outputs.linear_codes(Made(Squares)) == pytest.approx(expected, rel=1e-9)


def test_sinusoids_are_rotated_into_each_other_and_squares_need_more_than_one_channel():
    p = torch.stack([torch.arange(L, dtype=torch.float64) ** n for n in range(3)], 1)
    assert outputs.residual(p, 7) < 1e-12
    assert outputs.residual(p[:, 2:], 7) > 0.01


def test_distances_at_any_length():
    assert logits.length(Made(Slope)) < 1e-12
    assert logits.length(Made(OfKey)) > 0.1


def test_shifts():
    assert max(logits.shift(by, Made(Slope)) for by in (3, 10**2, 10**4, 10**6)) == 0
    moved = [logits.shift(by, Made(OfKey)) for by in (3, 10**2, 10**4, 10**6)]
    assert moved[1] / moved[0] == pytest.approx(100 / 3, rel=0.02)
    assert isnan(moved[2]) and isnan(moved[3])


@pytest.mark.parametrize(
    "cls, change", [(Scheme, 0), (Swapped, 0), (Slope, 0), (Longer, 0.63), (Fading, 0.75)]
)
def test_norms(cls, change):
    measured = outputs.norm(Made(cls))
    if cls is Longer:  # its form at the last query is (1.63)**2 I
        assert measured == pytest.approx(1.63**2 - 1)
    else:
        assert measured == pytest.approx(change, abs=1e-12)


def test_blindness_counts_weights_that_float32_rounds_to_nothing():
    steep = torch.softmax(-torch.arange(8 * L).float(), 0)
    assert distance.blind(Made(Steep)) == float((steep == 0).float().mean()) > 0.7
    assert distance.blind(Made(Slope)) == 0
    assert distance.blind(Made(SteepBesideASink)) > 0.7
    assert isnan(distance.blind(Made(OfKey))), "not defined that far"


def test_growth():
    assert distance.defined(Made(Scheme)) == 1024
    assert distance.growth(Made(Scheme)) == pytest.approx(1)
    assert distance.growth(Made(Slope)) == pytest.approx(8, rel=0.01)
    assert distance.defined(Made(OfKey)) == 1
    assert isnan(distance.growth(Made(OfKey)))


def test_order():
    assert outputs.order(1, Made(Scheme)) < 1e-14 < 1e-3 < outputs.order(2, Made(Scheme))
    assert outputs.order(1, Made(Slope)) > 1e-3


def test_decay():
    """The bias falls by 0.1 (47.5 - 1.5) whatever the content, whose logits have a standard
    deviation of 1.
    """
    assert distance.decay(True, Made(Scheme)) == pytest.approx(0, abs=1e-12)
    assert abs(distance.decay(False, Made(Scheme))) < 0.1
    fallen = distance.decay(True, Made(Slope))
    assert fallen == pytest.approx(4.6, rel=0.02)
    assert distance.decay(False, Made(Slope)) == pytest.approx(fallen, rel=0.05)


@pytest.mark.parametrize("cls, real", [(Scheme, False), (Slope, True), (Steps, False)])
def test_half_a_token(cls, real):
    assert (logits.real(Made(cls)), logits.axes(Made(cls))) == (real, 1)


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
    shape, nope, more = cost.SHAPE, Made(Scheme), Made(Unit)
    assert [column.measure(nope) for column in cost.COLUMNS] == [0, 0, 0, "fused"]
    T, C = shape.length, shape.dim
    model = (
        2 * (T * C * 12 * C + 2 * T * T * C) + T * C * shape.vocab
    )  # projections, MLP and attention; the head
    added = 2 * T * C * shape.head_dim
    assert cost.multiply_adds(more) == pytest.approx(added / model, rel=0.05)
    assert cost.written(more) > 0
