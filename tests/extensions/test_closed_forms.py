"""Interpolation, clipping, log-n and dropped positions against their closed forms."""

from math import cos, pi

import pytest
import torch

from extrap.extensions.chain import Chain
from extrap.extensions.clipped_rope import ClippedRoPE
from extrap.extensions.drope import DroPE
from extrap.extensions.interpolation import Interpolation
from extrap.extensions.log_n import ClippedLogN
from extrap.extensions.ntk import NTKMixed
from extrap.model.scheme import Shape, Where
from extrap.model.stack import Stack
from extrap.schemes.log_n import LogN
from extrap.schemes.multi_axis_rope import MultiAxisRoPE
from extrap.schemes.rope import RoPE
from extrap.schemes.sinusoidal import Sinusoidal
from extrap.schemes.vo_rope import VORoPE
from tests.support.discover import scheme
from tests.support.extension_case import rope, row, theta
from tests.support.jobs import job
from tests.support.scheme_case import around, at, close

SHAPE = Shape(dim=16, heads=2, layers=2, length=16, vocab=50)


@pytest.mark.parametrize(
    "factor, T, s", [(4.0, 10, 4), (4.0, 60, 4), (None, 10, 1), (None, 40, 2.5)]
)
def test_positions(factor, T, s):
    extended = Interpolation(factor).extend(Sinusoidal(SHAPE))
    t = extended.positions(torch.arange(T, dtype=torch.float64))
    close(t, torch.arange(T, dtype=torch.float64) / s, 1e-12)


@pytest.mark.parametrize(
    "name",
    [
        *("complex-order", "floater", "floater-qkv", "mul-sinusoidal", "raw-index-channel"),
        *("sinusoidal-concat", "sinusoidal-split", "transformer-xl"),
    ],
)
@torch.no_grad()
def test_functions_of_a_coordinate(name):
    """A text of T tokens at factor s is one whose coordinates are i / s."""
    model = around(scheme(name, SHAPE))
    x = torch.arange(24)[None] * 7 % 50
    squeezed = Interpolation(3.0)(model)(x)
    assert not torch.allclose(squeezed, model(x), atol=1e-6)
    model.where = lambda tokens: Where.whole(
        torch.arange(24, dtype=torch.float64) / 3, model.scheme.scale, tokens=tokens
    )
    close(squeezed, model(x), 1e-12)


@pytest.mark.parametrize("edge", ["smooth", "hard"])
def test_the_authors_mask_on_llama_3(edge):
    """20 of 64 pairs of base 500000, the last of them, by a raised cosine."""
    s = rope(128, 8192, 500000.0)
    ours = theta(ClippedRoPE(edge, 20), s)
    for p in range(64):
        mask = 1.0
        if p >= 44:
            mask = 0.5 * (1 + cos(pi * (p - 44) / 19)) if edge == "smooth" else 0.0
        assert float(ours[p]) == pytest.approx(500000 ** (-p / 64) * mask, abs=1e-15)


def test_each_grid_is_clipped_by_itself():
    s = MultiAxisRoPE(Shape(dim=16, heads=1, length=64), axes=2)
    close(theta(ClippedRoPE("hard", 1), s), row(1, 0.1, 0.01, 0, 1, 0.1, 0.01, 0))


def test_it_heats_as_the_clipped_scheme():
    shape = Shape(dim=8, heads=1, length=512)
    ours, scheme = ClippedLogN().extend(RoPE(shape)), LogN(shape, floor=1.0)
    close(ours.temperature(at(ours, 1024)), scheme.temperature(at(scheme, 1024)))


@torch.no_grad()
def test_chain_is_one_after_the_other():
    plain, x = around(RoPE(Shape(16, 2, 2, 16, 50))), torch.arange(50)[None] * 7 % 50
    chain = Chain(NTKMixed(4.0), ClippedLogN())
    close(chain(plain)(x), ClippedLogN()(NTKMixed(4.0)(plain))(x), 0)
    close(chain(plain)(x), NTKMixed(4.0)(ClippedLogN()(plain))(x), 1e-12)
    assert not torch.allclose(chain(plain)(x), NTKMixed(4.0)(plain)(x), atol=1e-6)
    assert chain.effective(10, 64) == 4


NARROW = Shape(dim=16, heads=2, layers=2, length=24, vocab=30)
TEXT = torch.randint(30, (2, 60), generator=torch.Generator().manual_seed(0))


@torch.no_grad()
def test_what_is_left_are_the_other_parts():
    turning = Stack(NARROW, [RoPE(NARROW), LogN(NARROW), VORoPE(NARROW)])
    model, bare = around(turning), around(LogN(NARROW))
    close(DroPE()(model)(TEXT), bare(TEXT))
    assert (model(TEXT) - bare(TEXT)).abs().max() > 1e-3


def test_it_is_recalibrated_at_the_training_length():
    tuned = job("scheme=rope", "finetune=full", "extension=drope").training
    assert (tuned.factor, tuned.length) == (1.0, tuned.source.length)
    tuned.check()
