"""Positions that follow the text: CoPE, forgetting, PoPE, selective RoPE and Wall, against other
implementations and loops.
"""

from math import cos, exp, log, pi, sin

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes import wall
from extrap.schemes.cope import CoPE
from extrap.schemes.forgetting import Forgetting
from extrap.schemes.pope import PoPE
from extrap.schemes.selective_rope import SelectiveRoPE
from extrap.schemes.wall import Wall
from tests.support.scheme_case import at, close, hidden, in_blocks, lower, moved, pairs, qkv, scores

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


@pytest.mark.parametrize(
    "T, heads, width, pmax", [(1, 1, 4, 2), (8, 2, 6, 3), (25, 3, 8, 32), (40, 4, 2, 16)]
)
@torch.no_grad()
def test_cope_equals_x_transformers(T, heads, width, pmax):
    from tests.support.oracles import CoPE as Oracle

    shape = Shape(dim=heads * width, heads=heads, layers=2, length=32)
    s = moved(CoPE(shape, pmax)).float()
    oracle = Oracle(width, heads, pmax)
    oracle.pos_emb.data = s.e[1]
    q, k, _ = qkv(shape, T, dtype=torch.float32)
    logits = (q @ k.mT / width**0.5).masked_fill(~lower(T), -torch.inf)
    close(s.bias(q, k, at(s, T, layer=1))[..., lower(T)], oracle(q, logits)[..., lower(T)], 1e-5)


def test_gates_of_cope_learn():
    s, (q, k, _) = moved(CoPE(SHAPE)), qkv(SHAPE, 9)
    k.requires_grad_()
    s.bias(q, k, at(s, 9)).square().sum().backward()
    assert k.grad.isfinite().all() and k.grad.any()


def test_cope_counts_in_bfloat16():
    s = CoPE(Shape(dim=4, heads=1, length=4096), pmax=4096)
    gates = torch.ones(1, 1000, dtype=torch.bfloat16)
    z = torch.arange(4096, dtype=torch.float32)[None]
    assert s.interpolated(z, gates)[0, -3:].tolist() == [998, 999, 1000]


@pytest.mark.parametrize("T, dim, heads", [(1, 4, 1), (7, 12, 2), (40, 24, 3)])
@torch.no_grad()
def test_forgetting_equals_x_transformers(T, dim, heads):
    from tests.support.oracles import DataDependentAlibi

    shape = Shape(dim=dim, heads=heads, layers=2)
    s, oracle = moved(Forgetting(shape)).float(), DataDependentAlibi(dim, heads)
    oracle.to_forget_gates[0].weight.data, oracle.to_forget_gates[0].bias.data = s.w[1], s.b[1]
    x = hidden(shape, T, torch.float32)
    ours = s.bias(*qkv(shape, T, dtype=torch.float32)[:2], at(s, T, layer=1, x=x)).float()
    close(ours[..., lower(T)], oracle(x)[..., lower(T)], 1e-5)


@torch.no_grad()
def test_forgetting_keeps_neighbours_exact_in_long_texts():
    s, T = Forgetting(Shape(dim=12, heads=2, layers=1), gate=0.0), 30000
    s.w.zero_()
    x = torch.zeros(1, T, 12)
    place = at(s, T, x=x).block(T - 2, T)
    b = s.bias(torch.zeros(1, 2, 2, 6), torch.zeros(1, 2, T, 6), place)
    close(b[0, 0, -1, -3:], torch.tensor([-2 * log(2), -log(2), 0.0], dtype=torch.float64), 1e-9)
    assert float(b[0, 0, -1, 0]) == pytest.approx(-log(2) * (T - 1), rel=1e-9)


def test_gates_of_forgetting_start_as_asked():
    s = Forgetting(SHAPE, gate=5.0)
    assert (s.b == 5).all() and not Forgetting(SHAPE).b.any()
    assert s.w.std() < 0.03 and s.w.abs().max() > 0


@pytest.mark.parametrize("t", [[0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 3.0, 11.0, 12.5]])
@torch.no_grad()
def test_pope(t):
    s = moved(PoPE(SHAPE, base=100.0))
    t, T = torch.tensor(t, dtype=torch.float64), len(t)
    q, k, _ = qkv(SHAPE, T)

    def term(h, i, j, c):
        turn = float(t[i] - t[j]) * 100 ** (-c / 6)
        turn -= min(0.0, max(-2 * pi, float(s.delta[1, h, c])))
        return log(1 + exp(q[0, h, i, c])) * log(1 + exp(k[0, h, j, c])) * cos(turn)

    expected = pairs(T, lambda h, i, j: sum(term(h, i, j, c) for c in range(6)) / 6**0.5)
    close(scores(s, q, k, at(s, t, layer=1))[0].tril(), expected)


@torch.no_grad()
def test_selective_rope_angles():
    s, T = moved(SelectiveRoPE(SHAPE, base=100.0, rank=5)), 7
    x = hidden(SHAPE, T)
    ours = s.angles(x, 1)
    total = torch.zeros(6, dtype=torch.float64)
    for t in range(T):
        for m in range(min(t + 1, 4)):
            halves = x[0, t - m].chunk(2)  # the channels of two heads
            unit = torch.cat([half / half.norm() for half in halves])
            total = total + s.taps[1, :, 3 - m] * (s.up[1] @ s.down[1] @ unit)
        for h in range(2):
            for p in range(3):
                expected = float(total[3 * h + p]) * 100 ** (-2 * p / 6)
                assert float(ours[0, h, t, p]) == pytest.approx(expected, abs=1e-12)


@torch.no_grad()
def test_selective_rope_turns_pairs_by_their_angles():
    s, T = moved(SelectiveRoPE(SHAPE)), 5
    x = hidden(SHAPE, T)
    q, k, _ = qkv(SHAPE, T)
    turned, _ = s.rotate(q, k, at(s, T, layer=1, x=x))
    a = s.angles(x, 1)
    for t in range(T):
        for p in range(3):
            c, d = cos(a[0, 1, t, p]), sin(a[0, 1, t, p])
            u, v = float(q[0, 1, t, p]), float(q[0, 1, t, p + 3])
            assert float(turned[0, 1, t, p]) == pytest.approx(u * c - v * d, abs=1e-12)
            assert float(turned[0, 1, t, p + 3]) == pytest.approx(u * d + v * c, abs=1e-12)


@torch.no_grad()
def test_selective_rope_angles_of_long_texts_are_exact():
    """Sums in float64: the increment after 30000 tokens of 3 rad is still 3 rad."""
    s, T = SelectiveRoPE(Shape(dim=4, heads=1), rank=1, taps=1), 30000
    s.down.data[:], s.up.data[:], s.taps.data[:] = 0.5, 3.0, 1.0
    a = s.angles(torch.ones(1, T, 4), 0)[0, 0, :, 0]
    assert float(a[-1] - a[-2]) == pytest.approx(3.0, abs=1e-6)
    assert float(a[-1]) == pytest.approx(3.0 * T, rel=1e-6)


@pytest.mark.parametrize("chunk, rows", [(1, 256), (3, 256), (16, 4), (16, 256)])
@torch.no_grad()
def test_wall(chunk, rows, monkeypatch):
    monkeypatch.setattr(wall, "CHUNK", chunk)
    s, T = moved(Wall(SHAPE)), 10
    x = hidden(SHAPE, T)
    q, k, _ = qkv(SHAPE, T)
    place = at(s, T, layer=1, x=x)
    gates = (x[0] @ s.w[1].T + s.b[1]).sigmoid().view(T, 2, 6)

    def entry(h, i, j):
        kept = gates[j + 1 : i + 1, h].prod(0)
        return (q[0, h, i] * k[0, h, j] * kept).sum() / 6**0.5

    close(in_blocks(s, q, k, place, rows)[0].tril(), pairs(T, entry))


@torch.no_grad()
def test_wall_overflows_nowhere_in_long_texts():
    """3000 tokens that forget half each: 2**3000 is no float, and neighbours are exact."""
    shape, T = Shape(dim=4, heads=1), 3000
    s = Wall(shape, gate=0.0)
    s.w.zero_()
    q = k = torch.ones(1, 1, T, 4)
    logits = s.score(q[:, :, -5:], k, at(s, T, x=torch.zeros(1, T, 4)).block(T - 5, T))
    assert logits.isfinite().all()
    close(logits[0, 0, -1, -4:], 2 * 0.5 ** torch.arange(3.0, -1, -1), 1e-6)
    assert float(logits[0, 0, -1, 0]) == 0


@torch.no_grad()
def test_selective_rope_starts_nearly_without_positions():
    """Its authors draw all three matrices with .02: some 1e-4 rad a token, and not 1."""
    shape = Shape(dim=64, heads=4, length=64)
    x = hidden(shape, 64)
    assert float(SelectiveRoPE(shape).angles(x, 0).diff(dim=2).std()) < 1e-3
