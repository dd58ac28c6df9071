"""What stands in for softmax: sinks, sigmoid, softpick, polar attention, stick-breaking and
entmax, against other implementations and formulas as loops.
"""

from math import exp, expm1, inf, log, log1p, prod, sqrt, tanh
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from extrap.model import attention as kernels
from extrap.model.attention import explicit
from extrap.model.scheme import Shape, Where
from extrap.model.stack import Stack
from extrap.schemes.entmax import ASEntmax, entmax15
from extrap.schemes.polar import NullFloor, PolarAttention
from extrap.schemes.sigmoid_attention import SigmoidAttention
from extrap.schemes.sink import SinkLogit, SoftmaxOne
from extrap.schemes.softpick import Softpick
from extrap.schemes.stick_breaking import StickBreaking
from extrap.schemes.window import Window
from tests.support.discover import scheme
from tests.support.scheme_case import at, close, hidden, lower, moved, pairs, qkv, softplus, weights

THREE = Shape(dim=16, heads=2, layers=3)


@pytest.mark.parametrize("T", [1, 7, 40])
def test_softmax_one_equals_the_zero_attention_of_torch(T):
    """Identity projections, so that the module attends over q, k, v themselves."""
    theirs = torch.nn.MultiheadAttention(16, 2, bias=False, add_zero_attn=True, batch_first=True)
    theirs.in_proj_weight.data, theirs.out_proj.weight.data = (
        torch.eye(16).repeat(3, 1),
        torch.eye(16),
    )
    q, k, v = qkv(THREE, T, dtype=torch.float32)
    flat = [x.transpose(1, 2).flatten(2) for x in (q, k, v)]
    mask = torch.ones(T, T, dtype=torch.bool).triu(1)
    o = theirs(*flat, attn_mask=mask, need_weights=False)[0].unflatten(-1, (2, 8)).transpose(1, 2)
    close(SoftmaxOne(THREE).attend(q, k, v, at(SoftmaxOne(THREE), T)), o.detach(), 1e-5)


@pytest.mark.parametrize("layer", [0, 2])
def test_sink_logits_equal_those_of_gpt_oss(layer):
    from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward

    s, T = moved(SinkLogit(THREE)).float(), 20
    q, k, v = qkv(THREE, T, dtype=torch.float32)
    module = SimpleNamespace(sinks=s.logit[layer], num_key_value_groups=1, training=False)
    mask = torch.full((T, T), -inf).triu(1)[None, None]
    theirs, _ = eager_attention_forward(module, q, k, v, mask, s.scale)
    close(s.attend(q, k, v, at(s, T, layer)), theirs.transpose(1, 2), 1e-5)


ONE = Shape(dim=16, heads=2, layers=1, length=16)
PAST = 24


@pytest.mark.parametrize("count", ["trained", "visible"])
def test_sigmoid(count):
    s, (q, k, _) = SigmoidAttention(ONE, count), qkv(ONE, PAST)
    z = (q @ k.mT * s.scale).tolist()
    a = weights(s, q, k, at(s, PAST))
    for b, h, i, j in [(0, 0, 0, 0), (0, 1, 5, 3), (1, 0, 11, 0), (1, 1, 23, 11), (0, 0, 7, 2)]:
        n = 16 if count == "trained" else i + 1
        assert float(a[b, h, i, j]) == pytest.approx(1 / (1 + exp(log(n) - z[b][h][i][j])), 1e-12)
    assert not a.triu(1).any()


T = 12


def test_softpick():
    s, (q, k, _) = Softpick(ONE), qkv(ONE, T)
    z = 3 * q[1] @ k[1].mT * s.scale
    e = pairs(T, lambda h, i, j: exp(z[h, i, j]) - 1)
    expected = pairs(T, lambda h, i, j: max(e[h, i, j], 0) / (e[h, i].abs().sum() + 1e-6))
    close(weights(s, 3 * q, k, at(s, T))[1], expected)
    assert (expected.sum(-1) < 1).any() and ((expected == 0) & lower(T)).any()


NARROW = Shape(dim=8, heads=2, layers=2, length=16)


@pytest.mark.parametrize("cls", [NullFloor, PolarAttention])
@torch.no_grad()
def test_polar(cls):
    """Section 2 of the source, docs/POLAR_ATTENTION.md of kreasof-ai/atma, as loops."""
    s, T, layer = moved(cls(NARROW)), 6, 1
    place = at(s, T, layer)
    q, k, v = qkv(NARROW, T)
    ours = s.gate(s.attend(q, k, v, place), place)[0]
    polar = cls is PolarAttention
    for h in range(2):
        for i in range(T):
            n = i + 1
            temp = 1 + softplus(float(s.a[layer, h])) * log(n) if polar else 1
            null = float(s.b[layer, h]) + softplus(float(s.c[layer, h])) * sqrt(log(n + 1))
            e = [exp(temp * float(q[0, h, i] @ k[0, h, j]) / 2) for j in range(n)]
            nowhere = exp(temp * null)
            u = nowhere * s.v[layer, h, 0] if polar else torch.zeros(4).double()
            for j in range(n):
                u = u + e[j] * v[0, h, j]
            u = u / (nowhere + sum(e))
            close(ours[h, i], u / u.norm() if polar else u)


def null_share(s: NullFloor, n: int) -> float:
    """The mean weight of the null for a query that meets n keys of standard normal logits."""
    noise = torch.randn(512, 2, 1, n, generator=torch.Generator().manual_seed(n)).double()
    here = at(s, n).block(n - 1, n)
    heat = s.temperature(here)
    return 1 - float(s.normalise(noise if heat is None else heat * noise, here).sum(-1).mean())


LENGTHS = (64, 256, 1024, 4096)


@torch.no_grad()
def test_the_null_of_polar_attention_keeps_its_share_under_noise_at_every_length():
    s = PolarAttention(NARROW).double()
    started = {name: float(p.mean()) for name, p in s.named_parameters()}
    assert started == {"a": -1.0, "b": 2.0, "c": 0.5, "v": 0.0}
    assert [null_share(s, n) for n in LENGTHS] == pytest.approx([0.93] * 4, abs=0.02)
    s.a.fill_(log(expm1(1 / log(64))))
    s.c.fill_(log(expm1(1.0)))
    assert [null_share(s, n) for n in LENGTHS] == pytest.approx([0.88] * 4, abs=0.015)


@torch.no_grad()
def test_the_null_without_heat_loses_its_share_under_noise():
    s = NullFloor(NARROW).double()
    expected = [0.07, 0.025, 0.0082, 0.0026]
    assert [null_share(s, n) for n in LENGTHS] == pytest.approx(expected, rel=0.05)
    assert "share falls" in NullFloor.__doc__ and "share falls" not in PolarAttention.__doc__


@pytest.mark.parametrize("current", ["excluded", "included"])
@pytest.mark.parametrize("rows", [1, 5, 256])
def test_stick_breaking(current, rows, monkeypatch):
    monkeypatch.setattr(kernels, "ROWS", rows)
    s, (q, k, v) = StickBreaking(ONE, current), qkv(ONE, T)
    share = (q[1] @ k[1].mT * s.scale).sigmoid()

    def entry(h, i, j):
        last = i if current == "excluded" else i + 1
        return share[h, i, j] * prod(1 - share[h, i, j + 1 : last]) if j < last else 0.0

    a = pairs(T, entry)
    close(weights(s, q, k, at(s, T))[1], a)
    close(kernels.attention(s, q, k, v, at(s, T))[1], a @ v[1])
    assert (a.sum(-1) <= 1).all() and (a[:, 0].sum(-1) == 0).all() == (current == "excluded")


def test_stick_breaking_gives_no_share_to_what_a_mask_hides():
    """Under a window of W tokens it is what it would be on the W tokens alone."""
    s = Stack(ONE, [StickBreaking(ONE), Window(ONE, 4)])
    q, k, v = qkv(ONE, T)
    here = Where.whole(torch.arange(T).double(), s.scale, sees=s.sees)
    alone = StickBreaking(ONE)
    last = alone.attend(q[:, :, -4:], k[:, :, -4:], v[:, :, -4:], at(alone, 4))[:, :, -1]
    close(kernels.attention(s, q, k, v, here)[:, :, -1], last)


@pytest.mark.turns
def test_stick_breaking_of_long_texts_keeps_its_gradients():
    s, n = StickBreaking(ONE), 3000
    q, k, v = (z.requires_grad_() for z in qkv(ONE, n, batch=1, dtype=torch.float32))
    o = kernels.attention(s, q * 10, k, v, at(s, n))
    o.square().sum().backward()
    assert all(z.isfinite().all() for z in (o, q.grad, k.grad, v.grad))
    exact = s.attend(q.double() * 10, k.double(), v.double(), at(s, n))
    close(o.double(), exact, 1e-4)


BOTH = Shape(dim=16, heads=2, layers=2, length=16)
TEN = 10


def bisected(z: list[float]) -> list[float]:
    """[z_j / 2 - tau]_+^2 with tau such that they sum to 1, halving an interval that holds it."""
    low, high = max(z) / 2 - 1, max(z) / 2
    for _ in range(100):
        tau = (low + high) / 2
        if sum(max(x / 2 - tau, 0) ** 2 for x in z) > 1:
            low = tau
        else:
            high = tau
    return [max(x / 2 - tau, 0) ** 2 for x in z]


@given(z=st.lists(st.floats(-30, 30), min_size=1, max_size=12), hidden=st.integers(0, 3))
def test_entmax_is_the_root_of_its_definition(z, hidden):
    found = entmax15(torch.tensor([*z, *[-inf] * hidden], dtype=torch.float64))
    close(found, torch.tensor([*bisected(z), *[0.0] * hidden], dtype=torch.float64), 1e-9)


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_gradients_of_entmax(scale):
    z = scale * torch.randn(5, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert torch.autograd.gradcheck(entmax15, z.requires_grad_(), atol=1e-6)


@torch.no_grad()
def test_asentmax():
    s, layer, (q, k, _) = moved(ASEntmax(BOTH)), 1, qkv(BOTH, TEN)
    x = hidden(BOTH, TEN)
    z = (q @ k.mT * s.scale).tolist()
    a = weights(s, q, k, at(s, TEN, layer, x))
    for b in range(2):
        for h in range(2):
            for i in range(TEN):
                rise = log1p(exp(float(x[b, i] @ s.u[layer, h])))
                exponent = 2 * tanh(float(x[b, i] @ s.w[layer, h]))
                c = 1 + rise * log(i + 2) ** exponent
                row = bisected([c * z[b][h][i][j] for j in range(i + 1)])
                close(a[b, h, i, : i + 1], torch.tensor(row, dtype=torch.float64), 1e-9)


@pytest.mark.parametrize("autocast", [False, True])
@torch.no_grad()
def test_a_temperature_does_not_magnify_the_rounding_of_bfloat16(autocast):
    """Logits that a temperature of some hundreds meets are products in float32."""
    s = ASEntmax(BOTH, delta=300.0)
    x, (q, k, v) = torch.zeros(2, TEN, 16), qkv(BOTH, TEN, dtype=torch.bfloat16)
    q, k, v = (z / 4 for z in (q, k, v))
    exact = s.double().attend(q.double(), k.double(), v.double(), at(s, TEN, x=x.double()))
    s.float()
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        for ours in (s.attend(q, k, v, at(s, TEN, x=x)), explicit(s, q, k, v, at(s, TEN, x=x))):
            assert (ours.double() - exact).abs().max() < 0.01 * exact.abs().max()


@pytest.mark.parametrize("name", ["path", "wall", "linear-rope", "linear-rope-cosine"])
@torch.no_grad()
def test_products_inside_autocast_have_the_type_of_their_factors(name):
    s = scheme(name, BOTH).float()
    x = torch.zeros(2, TEN, BOTH.dim)  # so that what autocast makes of it is exact
    values = qkv(BOTH, TEN, dtype=torch.float32)
    if name in ("path", "wall"):
        read = s.score
        values = values[:2]
    else:
        read = s.attend
    exact = read(*values, at(s, TEN, x=x))
    with torch.autocast("cpu", torch.bfloat16):
        ours = read(*values, at(s, TEN, x=x))
    assert (ours - exact).abs().max() < 1e-5 * exact.abs().max()
