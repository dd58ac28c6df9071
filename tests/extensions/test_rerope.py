"""Extensions that map distances: their defaults, chains and factors. The maps are tested in
tests/model/test_distance_maps.py.
"""

from math import log

import pytest
import torch

from extrap.extensions.chain import Chain
from extrap.extensions.dual_chunk import DualChunkAttention
from extrap.extensions.interpolation import Interpolation
from extrap.extensions.log_n import ClippedLogN
from extrap.extensions.ntk import NTK
from extrap.extensions.rerope import LeakyReRoPE, ReRoPE
from extrap.extensions.self_extend import SelfExtend
from extrap.extensions.shifted_positions import STRING
from extrap.model.distance_maps import DualChunk, Near, grouped
from extrap.model.scheme import Shape
from extrap.schemes.rope import RoPE
from tests.support import discover
from tests.support.scheme_case import at, close, text

SHAPE = Shape(dim=16, heads=2, length=64)


def farthest(mapped: Near, n: int) -> float:
    q, k = mapped.far(*(torch.tensor([t], dtype=torch.float64) for t in (n - 1.0, 0.0)))
    return float(q - k)


@pytest.mark.parametrize("factor", [2.0, 4.0, 8.0, 16.0])
def test_by_default_the_farthest_key_lies_within_the_trained_range(factor):
    n = int(factor * 64)
    assert farthest(LeakyReRoPE(factor).extend(RoPE(SHAPE)), n) == pytest.approx(63, abs=1e-9)
    extended = SelfExtend(factor).extend(RoPE(SHAPE))
    assert farthest(extended, n) < 64
    finer = [grouped(RoPE(SHAPE), 32, g) for g in (1, 2, 4, 8, 16, 32)]
    fitting = next(s for s in finer if farthest(s, n) < 64)
    assert farthest(extended, n) == farthest(fitting, n), "the smallest group that fits"


def test_widths_by_default():
    assert ReRoPE().extend(RoPE(SHAPE)).width == 32
    assert LeakyReRoPE().extend(RoPE(SHAPE)).width == 16
    assert SelfExtend().extend(RoPE(SHAPE)).width == 32
    s = DualChunkAttention().map(RoPE(SHAPE))
    assert isinstance(s, DualChunk) and (s.farthest, s.chunk) == (48, 44)
    s = STRING().map(RoPE(SHAPE))
    assert isinstance(s, Near) and s.width == 21 and farthest(s, 64) == 63 - 21 + 4


@torch.no_grad()
def test_chains_meet_where_they_should():
    """log-n heats mapped scores, and positions are squeezed before distances are mapped."""
    model, x = discover.gpt("rope"), text(100)
    mapped, heated = ReRoPE()(model)(x), Chain(ReRoPE(), ClippedLogN())(model)(x)
    close(heated[:, :64], mapped[:, :64])
    assert not torch.allclose(heated[:, 64:], mapped[:, 64:])
    close(Chain(Interpolation(2.0), ReRoPE(64))(model)(x), Interpolation(2.0)(model)(x))
    squeezed, alone = Chain(Interpolation(2.0), ReRoPE(32))(model)(x), Interpolation(2.0)(model)(x)
    close(squeezed[:, :64], alone[:, :64])
    assert not torch.allclose(squeezed[:, 66:], alone[:, 66:])
    slowed = Chain(ReRoPE(), NTK(8.0))(model).scheme
    assert isinstance(slowed, Near)
    close(slowed.part.spectrum(512), NTK(8.0).extend(model.scheme).spectrum(512))
    close(Chain(ReRoPE(), NTK(8.0))(model)(x), Chain(NTK(8.0), ReRoPE())(model)(x))


@pytest.mark.parametrize("factor", [2.0, 8.0])
def test_rows_carry_the_factor_that_a_given_number_is_of(factor):
    """Not one that plays no part: two readings that are the same have the same factor."""
    L, w = 64, 16
    k = (factor * L - 1 - w) / (L - 1 - w)
    for typed in (2.0, 8.0):
        assert LeakyReRoPE(typed, w, k).effective(L, L) == pytest.approx(factor)
        assert SelfExtend(typed, 32, 8).effective(L, L) == (64 - 32 + 4) * 8 / 64 == 4.5
    assert LeakyReRoPE(factor, w).effective(L, L) == SelfExtend(factor).effective(L, L) == factor
    extended = SelfExtend(4.5, 32).map(RoPE(Shape(dim=8, heads=1, length=L)))
    eights = grouped(RoPE(SHAPE), 32, 8)
    assert farthest(extended, 288) == farthest(eights, 288), "the smallest by which 4.5 L fit"


def test_logits_of_string_are_hotter_by_the_square_of_its_factor():
    """Its authors multiply queries and keys by .1 ln 2 + 1 each."""
    rope = RoPE(SHAPE)
    for m, times in ((None, (0.1 * log(2) + 1) ** 2), (2.0, 4.0)):
        extended = STRING(attention_factor=m).extend(rope)
        assert extended.temperature(at(extended, 60)).flatten().tolist() == [times]
    assert isinstance(STRING(attention_factor=1).extend(rope), Near)
