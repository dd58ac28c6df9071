"""The gated delta rule against its recurrence as a loop."""

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes import delta_rule
from extrap.schemes.delta_rule import GatedDeltaRule, PassedState, read
from tests.support.scheme_case import at, close, hidden, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


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
def test_chunks_equal_the_recurrence(T, chunk, monkeypatch):
    monkeypatch.setattr(delta_rule, "CHUNK", chunk)
    leaves = [z.requires_grad_() for z in drawn(T)]
    ours, plain = read(*leaves)[0], recurrence(*leaves)
    close(ours, plain, 1e-11)
    for a, b in zip(
        *(torch.autograd.grad(o.square().sum(), leaves) for o in (ours, plain)), strict=True
    ):
        close(a, b, 1e-9)


@torch.no_grad()
def test_the_scheme_makes_keys_and_gates_of_its_parameters():
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
