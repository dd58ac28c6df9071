"""ReRoPE, Leaky ReRoPE, Self-Extend as extensions: the maps with their defaults, what they leave
alone, what they refuse.
"""

import pytest
import torch

from extrap.extensions.chain import Chain
from extrap.extensions.interpolation import Interpolation
from extrap.extensions.log_n import ClippedLogN
from extrap.extensions.ntk import NTK
from extrap.extensions.rerope import LeakyReRoPE, ReRoPE
from extrap.extensions.self_extend import SelfExtend
from extrap.model.distance_maps import Constant, Grouped, Leaky
from extrap.model.scheme import Shape
from extrap.schemes.rope import RoPE
from extrap.schemes.t5 import T5
from extrap.utils.errors import NotApplicable
from tests.support import discover, fixture_e
from tests.support.scheme_case import close

SHAPE = Shape(dim=16, heads=2, length=64)
CLOSER = "-.192563623 -.135225645 -.044779713 .056629854"


def text(T: int) -> torch.Tensor:
    return torch.randint(50, (2, T), generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize(
    "extension, o",
    [
        (ReRoPE(), CLOSER),
        (SelfExtend(group=2), CLOSER),
        (LeakyReRoPE(width=2, k=2.0), "-.180423288 -.096474448 .011094702 .115947482"),
    ],
)
def test_fixture_e(extension, o):
    """L = 4, so that the default width is 2."""
    fixture_e.check(extension.extend(RoPE(fixture_e.SHAPE)), None, o)


def farthest(mapped: Leaky | Grouped, n: int) -> float:
    q, k = (torch.tensor([t], dtype=torch.float64) for t in (n - 1.0, 0.0))
    far = mapped.far(fixture_e.place(mapped).moved(q, k, "ends"))
    return float(far.q - far.k)


@pytest.mark.parametrize("factor", [2.0, 4.0, 8.0, 16.0])
def test_by_default_the_farthest_key_lies_within_the_trained_range(factor):
    n = int(factor * 64)
    assert farthest(LeakyReRoPE(factor).extend(RoPE(SHAPE)), n) == pytest.approx(63, abs=1e-9)
    grouped = SelfExtend(factor).extend(RoPE(SHAPE))
    assert farthest(grouped, n) < 64
    assert (
        grouped.group == 1 or farthest(Grouped(SHAPE, RoPE(SHAPE), 32, grouped.group // 2), n) >= 64
    )


def test_widths_by_default():
    assert ReRoPE().extend(RoPE(SHAPE)).width == 32
    assert LeakyReRoPE().extend(RoPE(SHAPE)).width == 16
    assert SelfExtend().extend(RoPE(SHAPE)).width == 32


@pytest.mark.parametrize("name", ["rope", "alibi", "kerple-power", "transformer-xl"])
@torch.no_grad()
def test_what_is_no_farther_than_the_width_stays(name):
    model, x = discover.gpt(name), text(64)
    plain = model(x)
    for extension, width in (
        (ReRoPE(20), 20),
        (LeakyReRoPE(width=20), 20),
        (SelfExtend(window=20, group=4), 20),
    ):
        extended = extension(model)(x)
        close(extended[:, :width], plain[:, :width])
        assert not torch.allclose(extended[:, width + 1 :], plain[:, width + 1 :])
    close(ReRoPE(64)(model)(x), plain)
    close(model(x), plain, 0)


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
    assert isinstance(slowed, Constant)
    close(slowed.part.spectrum(512), NTK(8.0).extend(model.scheme).spectrum(512))
    close(Chain(ReRoPE(), NTK(8.0))(model)(x), Chain(NTK(8.0), ReRoPE())(model)(x))


@pytest.mark.parametrize("extension", [ReRoPE(), LeakyReRoPE(), SelfExtend()])
@pytest.mark.parametrize(
    "name, why",
    [
        ("nope", "no function of the distance"),
        ("cope", "no function of the distance"),
        ("forgetting", "no function of the distance"),
        ("fire", "no function of the distance"),
        ("sinusoidal", "no function of the distance"),
        ("linear-rope", "owns attention altogether"),
        ("tupe-a", "positions past 64 are undefined"),
        ("learned", "positions past 64 are undefined"),
        ("randomised-rope", "its coordinates do not count tokens"),
        ("shaw", "every distance it tells apart would stay"),
    ],
)
def test_refused(extension, name, why):
    scheme = discover.scheme(name, Shape(dim=32, heads=4, layers=2, length=64, vocab=50))
    model = discover.gpt("nope")
    model.scheme = scheme
    with pytest.raises(NotApplicable, match=f"{type(extension).__name__} on .*: .*{why}"):
        extension(model)


@pytest.mark.filterwarnings("ignore:max_distance=128")
def test_a_clipped_bias_is_refused_where_it_is_flat_past_the_width():
    with pytest.raises(ValueError, match="every distance"):
        ReRoPE(32).extend(T5(SHAPE, max_distance=32))
    assert ReRoPE(24).extend(T5(SHAPE, max_distance=32))
    assert ReRoPE(32).extend(T5(SHAPE, max_distance=128))


@pytest.mark.parametrize(
    "extension, match",
    [
        (ReRoPE(0), "width=0"),
        (ReRoPE(65), "width=65"),
        (LeakyReRoPE(width=63), "width=63"),
        (SelfExtend(window=30, group=4), "group=4: must divide the window of 30"),
        (SelfExtend(8.0, window=16), None),
        (SelfExtend(16.0, window=16), "window=16: no divisor"),
    ],
)
def test_widths_that_do_not_fit(extension, match):
    if match is None:
        assert extension.extend(RoPE(SHAPE)).group == 16
        return
    with pytest.raises(ValueError, match=match):
        extension.extend(RoPE(SHAPE))


@pytest.mark.parametrize(
    "make", [lambda: LeakyReRoPE(0.5), lambda: LeakyReRoPE(k=1.0), lambda: SelfExtend(0.5)]
)
def test_options_that_make_no_sense(make):
    with pytest.raises(ValueError, match="="):
        make()


@pytest.mark.parametrize("factor", [2.0, 8.0])
def test_rows_carry_the_factor_that_a_given_number_is_of(factor):
    """Not one that plays no part: two readings that are the same have the same factor."""
    L, w = 64, 16
    k = (factor * L - 1 - w) / (L - 1 - w)
    for typed in (2.0, 8.0):
        assert LeakyReRoPE(typed, w, k).effective(L, L) == pytest.approx(factor)
        assert SelfExtend(typed, 32, 8).effective(L, L) == (64 - 32 + 4) * 8 / 64 == 4.5
    assert LeakyReRoPE(factor, w).effective(L, L) == SelfExtend(factor).effective(L, L) == factor
    grouped = SelfExtend(4.5, 32).map(RoPE(Shape(dim=8, heads=1, length=L)))
    assert grouped.group == 8, "the smallest by which 4.5 L tokens fit"
