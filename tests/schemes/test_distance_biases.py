"""Biases by distance: ALiBi and T5 against other implementations, KERPLE, Sandwich and GAPE against
the papers' formulas as loops.
"""

import warnings
from math import cos, exp, log

import pytest
import torch

from extrap.model.functional import bucket
from extrap.model.scheme import Shape
from extrap.schemes.alibi import ALiBi
from extrap.schemes.gape import GAPE
from extrap.schemes.kerple import Kerple, KerpleLog, KerplePower
from extrap.schemes.rope import RoPE
from extrap.schemes.sandwich import Sandwich
from extrap.schemes.t5 import T5
from tests.support.scheme_case import at, causal, close, lower, moved, pairs, qkv, softplus, weights


def alibi(heads: int, slopes: list[float] | None = None) -> ALiBi:
    return ALiBi(Shape(dim=4 * heads, heads=heads), slopes)


def alibi_bias(s: ALiBi, T: int) -> torch.Tensor:
    n = torch.arange(T, dtype=torch.float64)
    return s.distance_bias((n[:, None] - n).clamp(min=0), 0)


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 8, 12, 20])
@pytest.mark.parametrize("T", [1, 7, 64])
def test_alibi_equals_x_transformers(heads, T):
    from tests.support.oracles import AlibiPositionalBias

    ours = alibi_bias(alibi(heads), T).float()
    theirs = AlibiPositionalBias(heads)(T, T)
    close(ours[:, lower(T)], theirs[:, lower(T)], 1e-5)


LONG = Shape(dim=12, heads=2, layers=2, length=64)


def with_values(cls: type[Kerple], shape: Shape, r1: list[float], r2: list[float]) -> Kerple:
    s = cls(shape).double()
    s.raw1.data, s.raw2.data = (s.inverse(torch.tensor(r, dtype=torch.float64)) for r in (r1, r2))
    return s


def distances(*n: float) -> torch.Tensor:
    return torch.tensor(n, dtype=torch.float64)


@pytest.mark.parametrize("cls", [KerpleLog, KerplePower])
def test_kerple(cls):
    r1, r2 = [0.7, 1.3], [0.4, 1.7]
    b = with_values(cls, LONG, r1, r2).distance_bias(distances(*range(20)).view(4, 5), 0).detach()
    for h in range(2):
        for n in range(20):
            expected = -r1[h] * (log(1 + r2[h] * n) if cls is KerpleLog else n ** r2[h])
            assert float(b[h, n // 5, n % 5]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("cls", [KerpleLog, KerplePower])
def test_kerple_has_gradients_at_distance_zero_and_at_the_ends(cls):
    s = cls(LONG)
    s.distance_bias(distances(0), 0).sum().backward()
    assert s.raw1.grad.isfinite().all() and s.raw2.grad.isfinite().all()
    for r2 in (0.011, 5.0):
        s = with_values(cls, LONG, [0.02, 1.0], [r2, r2])
        b = s.distance_bias(distances(3), 0)
        b.sum().backward()
        assert (s.raw1.grad < 0).all() and (s.raw2.grad < 0).all()
        if cls is KerplePower:
            assert b.detach().min() >= -9.0 - 1e-9  # the exponent is at most 2


@pytest.mark.parametrize("cls", [KerpleLog, KerplePower])
def test_kerple_is_drawn_within_the_published_range_and_never_below_its_floor(cls):
    torch.manual_seed(0)
    s = cls(Shape(dim=400, heads=200))
    for raw, high in zip((s.raw1, s.raw2), cls.highest, strict=True):
        r = s.r(raw, distances())
        assert r.min() > 0.01 and 0.9 * high < r.max() < high
        raw.data.fill_(-1e4)
        assert (s.r(raw, distances()) == torch.tensor(0.01)).all()


@pytest.mark.parametrize("start", [0, 1])
def test_sandwich(start):
    b = Sandwich(Shape(dim=12, heads=3), 16, start).distance_bias(
        torch.arange(20, dtype=torch.float64).view(4, 5), 0
    )
    assert not b[:, 0, 0].any()  # a sink asks for no bias at distance 0
    for h in range(3):
        for n in range(20):
            total = sum(cos(n * 10000 ** (-2 * t / 16)) - 1 for t in range(start, start + 8))
            assert float(b[h, n // 5, n % 5]) == pytest.approx(total / (8 * (h + 1) / 3), abs=1e-12)


SMALL = Shape(dim=8, heads=2, layers=2, length=16)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("t", [[0.0, 1, 2, 3, 4, 5, 6], [0.0, 0.5, 3, 11, 12.5, 30, 31]])
@torch.no_grad()
def test_gape(t, layout):
    start = GAPE(SMALL)
    assert not start.b.any() and softplus(float(start.gamma[1, 1])) == pytest.approx(1)
    s, layer, t = moved(GAPE(SMALL, 10.0, layout)), 1, torch.tensor(t, dtype=torch.float64)
    place, T = at(s, t, layer), len(t)
    q, k, _ = qkv(SMALL, T)
    plain = RoPE(SMALL, 10.0, layout)
    content = plain.score(*plain.rotate(q, k, place), place)

    def entry(h, i, j):
        wg, wl, bg, bl = (of[n, layer, h] for of in (s.w, s.b) for n in (0, 1))
        g = softplus(float(wg @ q[0, h, i] + bg))
        spared = 1 / (1 + exp(-float(wl @ k[0, h, j] + bl)))
        mask = g * float(t[j] * (1 - spared) + t[i] * spared) / 16
        return content[0, h, i, j] + softplus(float(s.gamma[layer, h])) * mask

    close(weights(s, q, k, place)[0], causal(pairs(T, entry)))


@pytest.mark.parametrize(
    "buckets, farthest",
    [(32, 128), (32, 64), (32, 32), (8, 32), (16, 64), (64, 256), (32, 1000), (4, 8), (128, 2048)],
)
def test_t5_buckets_equal_transformers(buckets, farthest):
    from transformers.models.t5.modeling_t5 import T5Attention

    n = torch.arange(20000)
    theirs = T5Attention._relative_position_bucket(
        -n, bidirectional=False, num_buckets=buckets, max_distance=farthest
    )
    assert torch.equal(bucket(n, buckets, farthest), theirs)


@pytest.mark.sample(16)
@pytest.mark.parametrize("half", range(1, 65))
def test_t5_boundaries_are_those_of_whole_numbers(half):
    """floor(ln(n / e) / ln(m / e) e) >= k  iff  n**e >= m**k e**(e - k), in whole numbers."""
    for m in range(half + 1, 330):
        n = torch.arange(half, m + 2)
        found = bucket(n, 2 * half, m) - half
        at_least = found.clamp(max=half).tolist()
        for d, k in zip(n.tolist(), at_least, strict=True):
            assert d**half >= m**k * half ** (half - k), (2 * half, m, d)
            above = k + 1
            if above < half:  # the last bucket has no end
                assert d**half < m**above * half ** (half - above), (2 * half, m, d)


@torch.no_grad()
def test_t5_gives_the_entry_of_the_bucket():
    s = moved(T5(LONG, 8, 16))
    d = torch.tensor([[0.0, 3.0, 3.9999999], [4.5, 15.0, 1e6]], dtype=torch.float64)
    b = s.distance_bias(d, 0)
    assert b.shape == (2, 2, 3)
    for row, bins in enumerate([[0, 3, 4], [4, 7, 7]]):
        assert torch.equal(b[:, row], s.table[bins].T)


def test_t5_warns_of_buckets_training_never_reaches():
    with pytest.warns(UserWarning, match="27 of 32"):
        T5(LONG, max_distance=128)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        T5(LONG), T5(Shape(dim=4, heads=1, length=114), max_distance=128)
    with pytest.warns(UserWarning, match="31 of 32"):
        T5(Shape(dim=4, heads=1, length=113), max_distance=128)
