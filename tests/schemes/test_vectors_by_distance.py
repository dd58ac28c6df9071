"""Learned vectors by distance or place against the papers' sums: Shaw, Transformer-XL and XLNet,
DeBERTa, TUPE, URPE, and the bias that a projection of the text weighs.
"""

import pytest
import torch

from extrap.model.functional import bucket, sinusoid
from extrap.model.scheme import OutOfRange, Shape
from extrap.schemes.deberta import DeBERTa
from extrap.schemes.relative_projection import RelativeProjection
from extrap.schemes.shaw import Shaw
from extrap.schemes.t5 import T5
from extrap.schemes.transformer_xl import TransformerXL
from extrap.schemes.tupe import TUPE
from tests.support.discover import scheme
from tests.support.scheme_case import (
    SHAPE,
    around,
    at,
    causal,
    close,
    hidden,
    lower,
    mixed,
    moved,
    pairs,
    qkv,
    weights,
)

TIMES = [[*range(9)], [0, 0.25, 0.5, 0.75, 1, 1.25], [0, 0.3, 0.9, 4, 4.5, 11]]
WORDS = Shape(dim=12, heads=2, layers=2, length=32, vocab=20)


@pytest.mark.parametrize("clip", [1, 3, 16])
@torch.no_grad()
def test_shaw(clip):
    s, T = moved(Shaw(SHAPE, clip)), 9
    q, k, v = qkv(SHAPE, T)
    a = causal(
        pairs(T, lambda h, i, j: q[0, h, i] @ (k[0, h, j] + s.keys[1, min(i - j, clip)]) / 6**0.5)
    )
    o = mixed(a, lambda h, i, j: v[0, h, j] + s.values[1, min(i - j, clip)])
    close(s.attend(q, k, v, at(s, T, layer=1))[0], o)


@pytest.mark.parametrize("sharing", ["shared", "per-layer"])
@pytest.mark.parametrize("clamp", [None, 3])
@pytest.mark.parametrize("t", TIMES)
@torch.no_grad()
def test_transformer_xl_at_any_coordinates(sharing, clamp, t):
    s = moved(TransformerXL(SHAPE, sharing, clamp))
    t, T = torch.tensor(t, dtype=torch.float64), len(t)
    q, k, _ = qkv(SHAPE, T)
    u, v = s.u[-1, :, 0], s.v[-1, :, 0]
    theta = torch.tensor([10000 ** (-2 * p / 12) for p in range(6)], dtype=torch.float64)

    def entry(h, i, j):
        angle = min(float(t[i] - t[j]), clamp or 99) * theta
        r = (s.w[1] @ torch.cat([angle.sin(), angle.cos()])).view(2, 6)
        return (u[h] @ k[1, h, j] + (q[1, h, i] + v[h]) @ r[h]) / 6**0.5

    close(s.bias(q, k, at(s, t, layer=1))[1].tril(), pairs(T, entry))


@torch.no_grad()
def test_urpe_on_t5():
    shape, T = Shape(dim=12, heads=2, layers=2, length=64), 40
    s = moved(scheme("t5-urpe", shape))
    (t5, urpe), (q, k, v) = s.parts, qkv(shape, T)
    bias = t5.distance_bias(torch.arange(T, dtype=torch.float64), 0)
    assert urpe.span == 32
    a = causal(pairs(T, lambda h, i, j: q[1, h, i] @ k[1, h, j] / 6**0.5 + bias[h, i - j]))
    o = mixed(a, lambda h, i, j: urpe.c[min(i - j, 31), h] * v[1, h, j])
    close(s.attend(q, k, v, at(s, T))[1], o)


@pytest.mark.parametrize("past", ["raise", "sinusoidal"])
@pytest.mark.parametrize("reset", ["bos", "none"])
@torch.no_grad()
def test_tupe(past, reset):
    s, T = moved(TUPE(WORDS, T5(WORDS, 8, 16), past=past, reset=reset)), 7
    q, k, _ = qkv(WORDS, T)
    p = sinusoid(torch.arange(T), 12) if past == "sinusoidal" else s.table[:T]
    p = torch.nn.functional.layer_norm(p, (12,), s.norm.weight, s.norm.bias)

    def entry(h, i, j):
        own = slice(6 * h, 6 * h + 6)
        b = (p[i] @ s.query)[own] @ (p[j] @ s.key)[own] / 12**0.5
        b = b + s.relative.table[bucket(torch.tensor(i - j), 8, 16), h]
        if reset == "bos" and j == 0:
            b = s.theta[h]
        return q[1, h, i] @ k[1, h, j] / 12**0.5 + b

    close(weights(s, q, k, at(s, T, layer=1))[1], causal(pairs(T, entry)))


@torch.no_grad()
def test_tupe_past_its_table():
    def model(past):
        return around(TUPE(WORDS, past=past))

    x = torch.arange(40)[None] % 20
    with pytest.raises(OutOfRange):
        model("raise")(x)
    assert model("raise")(x[:, :32]).isfinite().all()
    assert model("sinusoidal")(x).isfinite().all()
    t = torch.tensor([31, 32, 1000], dtype=torch.float64)
    p = model("clamp").scheme.place(t)
    assert torch.equal(p[0], p[1]) and torch.equal(p[0], p[2])
    p = model("sinusoidal").scheme.place(t)
    assert (p[0] - p[1]).abs().max() > 0.01


@pytest.mark.parametrize(
    "form, terms", [("code", "both"), ("code", "c2p"), ("code", "p2c"), ("paper", "both")]
)
@torch.no_grad()
def test_deberta(form, terms):
    """The index of the code, and of the paper, over the full table."""
    s, T, span = moved(DeBERTa(SHAPE, 3, terms, form)), 9, 3
    q, k, _ = qkv(SHAPE, T)
    p = s.norm(s.table)
    if form == "code":
        p = torch.cat([torch.full((span, 12), torch.nan, dtype=torch.float64), p])

    def delta(n):
        return max(0, min(n + span, 2 * span - 1))

    def entry(h, i, j):
        own = slice(6 * h, 6 * h + 6)
        found = [q[0, h, i] @ k[0, h, j]]
        if terms != "p2c":
            found.append(q[0, h, i] @ (p @ s.key[1])[delta(i - j), own])
        if terms != "c2p":
            n = j - i if form == "paper" else i - j
            found.append(k[0, h, j] @ (p @ s.query[1])[delta(n), own])
        return sum(found) / (6 * len(found)) ** 0.5

    close(weights(s, q, k, at(s, T, layer=1))[0], causal(pairs(T, entry)))


@pytest.mark.parametrize("T, heads, dim, extent", [(1, 1, 4, 2), (9, 2, 12, 5), (40, 3, 24, 16)])
@torch.no_grad()
def test_relative_projection_equals_x_transformers(T, heads, dim, extent):
    from tests.support.oracles import RelativeProjPositionalBias

    shape = Shape(dim=dim, heads=heads, layers=2, length=32)
    s = moved(RelativeProjection(shape, curves=3, extent=extent)).float()
    x = hidden(shape, T).float()
    q, k, _ = qkv(shape, T, dtype=torch.float32)
    ours = s.bias(q, k, at(s, T, layer=1, x=x))
    oracle = RelativeProjPositionalBias(dim, heads, num_distance_basis=3, max_dist=extent)
    linear = oracle.to_distance_weights[0]
    linear.weight.data, linear.bias.data, oracle.distance_bank.data = s.w[1], s.c[1], s.e[1]
    close(ours[..., lower(T)], oracle(x)[..., lower(T)], 1e-5)
