"""Frequencies laid out by their periods: ladders that close after the training length, quantiles of
a hyperbolic cosine, and pairs that count within a period alone.
"""

from math import asinh, pi, sin, sinh

import pytest
import torch

from extrap.extensions.wave_prune import WavePruning
from extrap.model.heads import Heads
from extrap.model.rotary import pairing
from extrap.model.scheme import Shape
from extrap.model.watched import watch
from extrap.schemes.alibi import ALiBi
from extrap.schemes.evq_cosh import EVQCosh
from extrap.schemes.moebius import Ladder
from extrap.schemes.p_rope import PRoPE
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.rope import RoPE
from extrap.schemes.vo_rope import VORoPE
from extrap.schemes.wave_prune import WavePrune
from tests.support.discover import scheme
from tests.support.explicit_phase import between, inner, logits
from tests.support.scheme_case import at, close, pairs, qkv, scores

L, D = 20, 8
SHAPE = Shape(dim=4 * D, heads=4, length=L)


@pytest.mark.parametrize("steps, sign", [("odd", -1), ("even", 1)])
def test_a_ladder_comes_back_after_the_training_length(steps, sign):
    s = Ladder(SHAPE, steps)
    q, k, _ = qkv(SHAPE, 5)
    t = torch.arange(5, dtype=torch.float64)
    near, far = (s.rotate(q, k, at(s, shift + t))[0] for shift in (0, L))
    close(far, sign * near, 1e-12)


def test_the_ladder_of_the_paper_and_its_kernel():
    """theta_i = pi (2 i + 1) / N, and the mean cosine is sin(D pi m / N) / (D sin(pi m / N))."""
    theta = Ladder(SHAPE).spectrum(L)
    assert theta.flip(0).tolist() == pytest.approx([pi * (2 * i + 1) / L for i in range(D // 2)])
    for m in range(1, L):
        kernel = sin(D * pi * m / L) / (D * sin(pi * m / L))
        assert float((m * theta).cos().mean()) == pytest.approx(kernel, abs=1e-12)


def test_the_aperiodic_control_has_the_same_band():
    odd, control = (Ladder(SHAPE, steps).spectrum(L) for steps in ("odd", "geometric"))
    close(control[[0, -1]], odd[[0, -1]], 1e-12)
    ratios = control[1:] / control[:-1]
    close(ratios, ratios[:1].expand(3), 1e-12)


@pytest.mark.parametrize("share, moebius", [(0.25, 1), (0.5, 2), (0.0, 1), (1.0, 4)])
def test_some_heads_turn_by_the_ladder(share, moebius):
    ladder, rope = Ladder(SHAPE), RoPE(SHAPE)
    s = Heads(SHAPE, ladder, rope, share)
    q, k, _ = qkv(SHAPE, 7)
    found = scores(s, q, k, at(s, 7))
    for h in range(4):
        one = ladder if h < moebius else rope
        close(found[:, h], scores(one, q, k, at(one, 7))[:, h], 1e-12)


def test_both_parts_see_every_head():
    """As a run watches its hooks before training."""
    s = scheme("moebius-rope", SHAPE)
    watch(s, "moebius-rope")
    q, k, _ = qkv(SHAPE, 7)
    assert all(x.shape == q.shape for x in s.rotate(q, k, at(s, 7)))


def test_heads_take_parts_that_turn_alone():
    for part in (ALiBi(SHAPE), VORoPE(SHAPE)):
        with pytest.raises(ValueError, match="some heads"):
            Heads(SHAPE, part, RoPE(SHAPE))


def test_the_zoo_has_a_quarter_of_the_heads_on_the_ladder():
    s = scheme("moebius-rope", SHAPE)
    assert isinstance(s, Heads) and s.first == 1
    assert scheme("moebius-control", SHAPE).part.steps == "geometric"


def test_evq_cosh_without_tau_is_rope():
    close(EVQCosh(SHAPE, tau=0.0).spectrum(L), RoPE(SHAPE).spectrum(L), 1e-12)


@pytest.mark.parametrize("tau", [0.5, 2.0, 5.0])
def test_evq_cosh_is_the_formula_of_its_authors(tau):
    fixed, midpoint = EVQCosh(SHAPE, tau=tau), EVQCosh(SHAPE, tau=tau, ends="midpoint")
    theta, rope = fixed.spectrum(L), RoPE(SHAPE).spectrum(L)
    close(theta[[0, -1]], rope[[0, -1]], 1e-12)
    for p in range(4):
        phi = [1 - asinh((1 - u) * sinh(tau)) / tau for u in (p / 3, (p + 0.5) / 4)]
        expected = float(rope[0]) * float(rope[-1] / rope[0]) ** phi[0]
        assert float(theta[p]) == pytest.approx(expected)
        assert float(midpoint.spectrum(L)[p]) == pytest.approx(10000.0 ** -phi[1])
    gaps = theta.log().diff().abs()
    assert (gaps.diff() > 0).all()  # slow pairs lie farther apart


def test_tau_of_evq_cosh_follows_the_shape():
    assert EVQCosh(SHAPE).tau == pytest.approx(8 / 20**0.5)


def pruned(theta: torch.Tensor, q: torch.Tensor, k: torch.Tensor, periods: float) -> torch.Tensor:
    """(H, T, T) of pairs of neighbouring channels, each within so many of its periods."""
    terms = inner(q, k, between(torch.arange(q.shape[-2]).double()), theta)[0]

    def entry(h: int, i: int, j: int) -> float:
        kept = [p for p in range(len(theta)) if (i - j) * float(theta[p]) < periods * 2 * pi]
        return float(sum(terms[h, i, j, p] for p in kept))

    return pairs(q.shape[-2], entry, q.shape[1])


@pytest.mark.parametrize("periods", [0.25, 1.0, 2.0])
@pytest.mark.parametrize("layout", ["interleaved", "half", [3, 0, 7, 2, 1, 6, 4, 5]])
def test_wave_prune_drops_pairs_past_their_period(layout, periods):
    s, T = WavePrune(SHAPE, base=100.0, periods=periods, layout=layout), 24
    q, k, _ = qkv(SHAPE, T)
    order = pairing(layout, D).flatten()
    expected = pruned(s.spectrum(T), q[..., order], k[..., order], periods) * s.scale
    close(scores(s, q, k, at(s, T))[0].tril(), expected, 1e-10)


def test_wave_prune_leaves_the_first_period_alone():
    s, T = WavePrune(SHAPE), 7  # 2 pi is 6.3, the period of the fastest pair
    q, k, _ = qkv(SHAPE, T)
    plain = logits(q, k, between(torch.arange(T).double()), s.spectrum(T)) * s.scale
    close(scores(s, q, k, at(s, T)), plain, 1e-12)


@pytest.mark.parametrize(
    "part",
    [RoPE(SHAPE), PartialRoPE(SHAPE, layout="interleaved"), PRoPE(SHAPE, fraction=0.5)],
)
def test_wave_prune_of_a_trained_scheme(part):
    """Channels that do not turn count everywhere, and pairs that stand still have no period."""
    T, extended = 24, WavePruning().extend(part)
    q, k, _ = qkv(SHAPE, T)
    theta = part.spectrum(T)
    turned = 2 * len(theta)
    expected = pruned(theta, q[..., :turned], k[..., :turned], 1.0)
    expected += (q[..., turned:] @ k[..., turned:].transpose(-1, -2))[0].tril()
    close(scores(extended, q, k, at(extended, T))[0].tril(), expected * part.scale, 1e-10)
