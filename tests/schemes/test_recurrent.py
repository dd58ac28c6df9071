"""Products and sums over all tokens before: PaTH, the gated delta rule and linear attention, each
against its recurrence or quadratic form.
"""

from math import log

import pytest
import torch
import torch.nn.functional as F

from extrap.model import attention as kernels
from extrap.model.scheme import Shape, Where
from extrap.schemes import delta_rule, path
from extrap.schemes.delta_rule import GatedDeltaRule, PassedState, read
from extrap.schemes.linear_rope import EPS, CosineLinearRoPE, LinearAttention, LinearRoPE
from extrap.schemes.path import PaTH
from extrap.schemes.rope import RoPE
from tests.support.scheme_case import at, close, hidden, in_blocks, lower, moved, pairs, qkv

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


def product(w: torch.Tensor, b: torch.Tensor, j: int, i: int) -> torch.Tensor:
    """H_{j+1} H_{j+2} .. H_i of one head: w (T, D), b (T,)."""
    H = torch.eye(w.shape[1], dtype=w.dtype)
    for t in range(j + 1, i + 1):
        H = H @ (torch.eye(w.shape[1], dtype=w.dtype) - b[t] * torch.outer(w[t], w[t]))
    return H


@pytest.mark.parametrize("chunk", [1, 3, 64])
@pytest.mark.parametrize("rows", [1, 4, 256])
@torch.no_grad()
def test_path(chunk, rows, monkeypatch):
    monkeypatch.setattr(path, "CHUNK", chunk)
    s, T = moved(PaTH(SHAPE, rank=5)), 11
    x = hidden(SHAPE, T)
    q, k, _ = qkv(SHAPE, T)
    place = at(s, T, layer=1, x=x)
    w, b = s.reflections(x, 1)

    def entry(h, i, j):
        return k[0, h, j] @ product(w[0, h], b[0, h], j, i) @ q[0, h, i] / 6**0.5

    close(in_blocks(s, q, k, place, rows)[0].tril(), pairs(T, entry))


@torch.no_grad()
def test_path_makes_reflections_of_the_last_tokens():
    """w and b as a loop: low rank, three taps, silu, length 1; b between 0 and 2."""
    s, T = moved(PaTH(SHAPE, rank=3)), 6
    x = hidden(SHAPE, T)
    w, b = s.reflections(x, 1)
    for t in range(T):
        u = torch.zeros(12, dtype=torch.float64)
        for m in range(3):
            if t >= m:
                u += s.taps[1, :, 2 - m] * (s.up[1] @ s.down[1] @ x[0, t - m])
        u = (u * u.sigmoid()).view(2, 6)
        close(w[0, :, t], u / u.norm(dim=-1, keepdim=True))
        close(b[0, :, t], 2 * (s.beta[1] @ x[0, t] + s.c[1]).sigmoid())


@torch.no_grad()
def test_path_stays_exact_in_float32(monkeypatch):
    """600 reflections, in chunks and blocks, against float64 in one piece."""
    shape, T = Shape(dim=16, heads=2, layers=1, length=64), 600
    s = moved(PaTH(shape))
    x, (q, k, v) = hidden(shape, T)[:1], qkv(shape, T, batch=1)
    exact = s.attend(q, k, v, at(s, T, x=x))
    low = s.float()
    place = at(low, T, x=x.float())
    close(kernels.explicit(low, *(z.float() for z in (q, k, v)), place).double(), exact, 2e-4)


def drawn(T: int, D: int = 6) -> tuple[torch.Tensor, ...]:
    """q, k of length 1, v, ln a, b of two heads."""
    g = torch.Generator().manual_seed(3)
    q, k, v = torch.randn(3, 2, 2, T, D, generator=g, dtype=torch.float64)
    log_a, b = torch.rand(2, 2, 2, T, generator=g, dtype=torch.float64)
    unit = torch.nn.functional.normalize
    return unit(q, dim=-1), unit(k, dim=-1), v, -log_a, b


def recurrence(q, k, v, log_a, b) -> torch.Tensor:
    """S_t = a_t S_{t-1} (I - b_t k_t k_t^T) + b_t v_t k_t^T, o_t = S_t q_t, as the paper has it."""
    out = torch.zeros_like(v)
    one = torch.eye(k.shape[-1], dtype=k.dtype)
    for n in range(v.shape[0]):
        for h in range(v.shape[1]):
            S = torch.zeros(v.shape[-1], k.shape[-1], dtype=v.dtype)
            for t in range(v.shape[2]):
                K, beta = k[n, h, t], b[n, h, t]
                S = log_a[n, h, t].exp() * S @ (one - beta * torch.outer(K, K))
                S = S + beta * torch.outer(v[n, h, t], K)
                out[n, h, t] = S @ q[n, h, t]
    return out


@pytest.mark.parametrize("T, chunk", [(1, 64), (7, 1), (23, 5), (70, 64)])
def test_delta_rule_chunks_equal_the_recurrence(T, chunk, monkeypatch):
    monkeypatch.setattr(delta_rule, "CHUNK", chunk)
    leaves = [z.requires_grad_() for z in drawn(T)]
    ours, plain = read(*leaves)[0], recurrence(*leaves)
    close(ours, plain, 1e-11)
    for a, b in zip(
        *(torch.autograd.grad(o.square().sum(), leaves) for o in (ours, plain)), strict=True
    ):
        close(a, b, 1e-9)


@torch.no_grad()
def test_delta_rule_makes_keys_and_gates_of_its_parameters():
    s, T = moved(GatedDeltaRule(SHAPE, taps=2)), 9
    x, (q, k, v) = hidden(SHAPE, T), qkv(SHAPE, T)
    made = [torch.zeros_like(q), torch.zeros_like(k)]
    for n, z in enumerate((q, k)):
        for t in range(T):
            u = s.taps[1, n, :, 1].view(2, 6) * z[:, :, t]
            u = u + (s.taps[1, n, :, 0].view(2, 6) * z[:, :, t - 1] if t else 0)
            u = u * u.sigmoid()
            made[n][:, :, t] = u / u.norm(dim=-1, keepdim=True)
    log_a = -s.A[1].exp() * (1 + (x @ s.wa[1].T + s.c[1]).exp()).log()
    b = (x @ s.wb[1].T).sigmoid()
    plain = recurrence(made[0], made[1], v, log_a.transpose(1, 2), b.transpose(1, 2)) * 6**-0.5
    close(s.attend(q, k, v, at(s, T, layer=1, x=x)), plain, 1e-11)


@pytest.mark.parametrize("texts, passed", [(1, [2]), (2, [1, 2]), (9, [1, 2])])
@torch.no_grad()
def test_a_text_starts_where_others_of_its_batch_ended(texts, passed):
    """Text 0 of three: its output is that of the texts before it, which wrap around, and itself as
    one text.
    """
    s = PassedState(SHAPE, texts=texts).train()
    alone = drawn(7)
    three = tuple(torch.cat([z, 0.5 * z[:1]]) for z in alone)
    joined = tuple(torch.cat([z[n : n + 1] for n in (*passed, 0)], 2) for z in three)
    ours, _ = delta_rule.read(*three, state=s.first_state(*three))
    close(ours[:1], read(*joined)[0][:, :, -7:], 1e-12)
    assert s.eval().first_state(*three) is None
    assert s.train().first_state(*(z[:1] for z in alone)) is None


def test_passed_states_take_no_gradient():
    s, leaves = PassedState(SHAPE).train(), [z.requires_grad_() for z in drawn(7)]
    state = s.first_state(*leaves)
    assert state is not None and not state.requires_grad


WIDE = Shape(dim=16, heads=2)
BOTH = [LinearRoPE, CosineLinearRoPE]


def quadratic(s: LinearAttention, q, k, v, place: Where) -> torch.Tensor:
    """The same formula with the whole (T, T) matrix."""
    rope, T = RoPE(s.shape, s.base, s.layout), q.shape[2]
    rope.spectrum = s.spectrum
    if isinstance(s, LinearRoPE):
        q, k = F.elu(q) + 1, F.elu(k) + 1
        below = (q @ k.transpose(-1, -2)).masked_fill(~lower(T), 0).sum(-1, keepdim=True)
        q, k = rope.rotate(q, k, place)
        above = q @ k.transpose(-1, -2)
    else:
        q, k = rope.rotate(
            q / q.norm(dim=-1, keepdim=True), k / k.norm(dim=-1, keepdim=True), place
        )
        above = 1 + EPS + q @ k.transpose(-1, -2)
        below = above.masked_fill(~lower(T), 0).sum(-1, keepdim=True)
    return (above / below).masked_fill(~lower(T), 0) @ v


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("T", [1, 64, 65, 150])
def test_linear_rope_sums_equal_the_quadratic_form(cls, layout, T):
    s = cls(WIDE, layout=layout)
    leaves = [x.requires_grad_() for x in qkv(WIDE, T)]
    place = at(s, torch.arange(T, dtype=torch.float64) * 1.5 + 3)
    ours, plain = s.attend(*leaves, place), quadratic(s, *leaves, place)
    close(ours, plain, 1e-11)
    for a, b in zip(
        *(torch.autograd.grad(o.square().sum(), leaves) for o in (ours, plain)), strict=True
    ):
        close(a, b, 1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("cls", BOTH)
def test_linear_rope_divides_by_nothing_zero(cls, dtype):
    """Features of channels far below zero stay positive; a first key opposite to its query still
    has all of the weight.
    """
    s = cls(WIDE)
    q = torch.full((1, 2, 70, 8), -40.0, dtype=dtype)
    k = q if cls is LinearRoPE else -q
    v = torch.randn(1, 2, 70, 8).to(dtype)
    o = s.attend(q, k, v, at(s, 70))
    assert o.dtype == dtype and o.isfinite().all()
    close(o[:, :, 0], v[:, :, 0], 1e-2)


def test_gates_of_the_delta_rule_start_as_the_authors_draw_them():
    """e^A ~ U(0, 16), softplus(c) log-uniform in (.001, .1), as in transformers (olmo_hybrid)."""
    s = GatedDeltaRule(Shape(dim=2000, heads=1000, layers=8))
    rate, pace = s.A.detach().exp(), torch.nn.functional.softplus(s.c.detach())
    assert float(rate.min()) < 0.05 and 15.9 < float(rate.max()) <= 16
    assert float(rate.mean()) == pytest.approx(8, abs=0.3)
    assert 0.000999 < float(pace.min()) < 0.00102 and 0.098 < float(pace.max()) < 0.1001
    assert float(pace.log().mean()) == pytest.approx((log(0.001) + log(0.1)) / 2, abs=0.06)
