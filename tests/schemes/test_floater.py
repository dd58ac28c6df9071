"""FLOATER: the integrator against torchdiffeq, the schemes against loops written from
the paper.
"""

from math import cos

import pytest
import torch

from extrap.model import attention as kernels
from extrap.model.scheme import Shape, Where
from extrap.schemes.floater import Floater, FloaterQKV, Flow, rk4
from tests.support.scheme_case import around, close

SHAPE = Shape(8, 2, layers=3, length=16)
POLE = torch.tensor([0.0, 1.0], dtype=torch.float64)


def bent(t, p: torch.Tensor) -> torch.Tensor:
    """A field that depends on time and bends."""
    return torch.stack([p[1] * cos(float(t)) - p[0], (p[0] * 2).sin() + 0.3 * float(t)])


def test_the_tableau_is_the_classic_one_of_torchdiffeq():
    from torchdiffeq._impl.rk_common import rk4_step_func

    p, t = POLE, 0.0
    for end in (0.5, 0.7, 2.0):
        p = p + rk4_step_func(lambda t, p, **_: bent(t, p), t, end - t, end, p)
        t = end
    close(rk4(bent, POLE, [0.5, 0.7, 2.0], [1, 1, 1])[-1], p)


def test_a_gap_is_walked_like_the_positions_in_it():
    """To the last bit but one: positions that are left out change no other."""
    torch.manual_seed(0)
    flow, start = Flow(8, "timed", 0.1, steps=2).double(), torch.randn(8, dtype=torch.float64)
    every = flow(start, torch.arange(40, dtype=torch.float64))
    some = [3, 4, 17, 39]
    close(flow(start, torch.tensor(some, dtype=torch.float64)), every[some], 1e-13)


@pytest.mark.parametrize("dynamics", ["timed", "autonomous"])
def test_field_is_two_linear_maps_of_state_and_time(dynamics):
    flow = Flow(8, dynamics, 0.01, 1).double()
    for layer in (flow.inner, flow.outer):
        torch.nn.init.normal_(layer.bias)
    p, t = torch.randn(3, 2, 8, dtype=torch.float64), 0.7

    def beside(z: torch.Tensor) -> torch.Tensor:
        return torch.cat([z, z.new_full((3, 2, 1), t)], -1) if dynamics == "timed" else z

    close(flow.field()(t, p), flow.outer(beside(flow.inner(beside(p)).relu())))


def test_qkv_against_a_loop():
    """o_i = sum_j softmax_j(<q_i + p^q_i, k_j + p^k_j> / sqrt(D)) (v_j + p^v_j), states added
    before the heads are split.
    """
    torch.manual_seed(0)
    scheme, layer, T = FloaterQKV(SHAPE, delta=0.3).double(), 2, 6
    q, k, v = torch.randn(3, T, 8, dtype=torch.float64)
    at = Where.whole(torch.arange(T, dtype=torch.float64), scheme.scale, layer=layer)
    found = (
        scheme.attend(*(z.view(1, T, 2, 4).transpose(1, 2) for z in (q, k, v)), at)[0]
        .transpose(0, 1)
        .reshape(T, 8)
    )
    p = [scheme.flow(scheme.start[which, layer], at.q) for which in range(3)]
    q, k, v = q + p[0], k + p[1], v + p[2]
    for i in range(T):
        for h in range(2):
            c = slice(4 * h, 4 * h + 4)
            a = torch.stack([q[i, c] @ k[j, c] / 2 for j in range(i + 1)]).softmax(0)
            close(found[i, c], sum(a[j] * v[j, c] for j in range(i + 1)))


@pytest.mark.parametrize("cls", [Floater, FloaterQKV])
@torch.no_grad()
def test_the_path_is_integrated_once_per_forward(cls, monkeypatch):
    monkeypatch.setattr(kernels, "ROWS", 5)
    model, calls = around(cls(SHAPE)), []
    model.scheme.flow.register_forward_hook(lambda *_: calls.append(1))
    model(torch.zeros(2, 23, dtype=torch.long))
    assert len(calls) == 1


def test_low_precision_weights_are_integrated_in_float32():
    flow = Flow(8, "timed", 0.01, 1).to(torch.bfloat16)
    assert flow(torch.zeros(8, dtype=torch.bfloat16), torch.arange(3.0)).dtype == torch.float32
