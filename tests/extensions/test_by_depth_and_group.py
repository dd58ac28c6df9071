"""Jet-Long and a factor for each layer: distances as loops from their formulas."""

from math import ceil

import pytest
import torch

from extrap.extensions.interpolation import Interpolation
from extrap.extensions.jet_long import JetLong
from extrap.extensions.layer_factors import LayerFactors
from extrap.model.scheme import Shape
from extrap.model.spectrum import frequencies_used
from extrap.schemes.alibi import ALiBi
from extrap.schemes.rope import RoPE
from extrap.utils.errors import NotApplicable
from tests.support.explicit_phase import between, logits
from tests.support.scheme_case import around, at, close, pairs, qkv, scores

L = 16
SHAPE = Shape(dim=16, heads=2, layers=3, length=L, vocab=50)


@pytest.mark.parametrize("T, width, w", [(16, None, 1), (17, None, 1), (40, 3, 3), (48, 15, 15)])
def test_jet_long_is_the_loop_of_its_authors(T, width, w):
    """Near keys, w among them, at their distance; the others at that of their groups."""
    rope = RoPE(SHAPE)
    extended = JetLong(width).extend(RoPE(SHAPE))
    G = ceil(T / L)

    def distance(h: int, i: int, j: int) -> float:
        return i - j if i - j <= w or G == 1 else i // G - j // G

    D = pairs(T, distance)[0]
    q, k, _ = qkv(SHAPE, T)
    expected = logits(q, k, D, rope.spectrum(T)) * rope.scale
    close(scores(extended, q, k, at(extended, T)).tril(), expected.tril(), 1e-10)
    assert JetLong().effective(T, L) == G
    assert (D < L).all()


def test_far_keys_of_jet_long_have_the_bias_of_their_group():
    alibi, T = ALiBi(SHAPE), 40
    extended = JetLong(3).extend(ALiBi(SHAPE))
    q, k, _ = qkv(SHAPE, T)
    found = extended.bias(*extended.rotate(q, k, at(extended, T)), at(extended, T))
    d = torch.tensor([3.0, 39 // 3])
    close(found[:, 39, [36, 0]], alibi.distance_bias(d.double(), 0), 1e-12)


@pytest.mark.parametrize(
    "controls, factors",
    [([2.0], [2, 2, 2]), ([1.0, 3.0], [1, 2, 3]), ([1.0, 3.0, 2.0], [1, 2.25, 2])],
)
def test_each_layer_has_the_factor_of_the_curve(controls, factors):
    extended, rope, T = LayerFactors(controls).extend(RoPE(SHAPE)), RoPE(SHAPE), 20
    q, k, _ = qkv(SHAPE, T)
    D, theta = between(torch.arange(T).double()), rope.spectrum(T)
    for layer, s in enumerate(factors):
        found = scores(extended, q, k, at(extended, T, layer))
        close(found, logits(q, k, D / s, theta) * rope.scale, 1e-10)
        close(frequencies_used(extended, T, layer), theta / s, 1e-12)


@torch.no_grad()
def test_a_model_with_one_factor_is_interpolated():
    model, x = around(RoPE(SHAPE)), torch.arange(20)[None]
    close(LayerFactors([3.0])(model)(x), Interpolation(3.0)(model)(x), 1e-10)


def test_factors_of_one_change_nothing_and_are_refused():
    with pytest.raises(NotApplicable):
        LayerFactors([1.0, 1.0])(around(RoPE(SHAPE)))
