"""Dynamic NTK by row: the score in phases with frequencies of its own in every row; blocks,
prefixes, other parts beside it.
"""

import pytest
import torch

from extrap.extensions.all_layers import AllLayers
from extrap.extensions.dynamic_ntk import DynamicNTK
from extrap.model import attention as kernels
from extrap.model.scheme import Shape
from extrap.model.stack import Only, Stack
from extrap.schemes.delta_rule import GatedDeltaRule
from extrap.schemes.rope import RoPE
from tests.support.discover import scheme
from tests.support.explicit_phase import between, logits
from tests.support.extension_case import close, rope
from tests.support.scheme_case import around, at, causal, moved, qkv, scores

T, L = 45, 16


@pytest.mark.parametrize("factor", [1.0, 3.0])
@pytest.mark.parametrize("rows", [1, 7, 256])
def test_score_in_phases(factor, rows, monkeypatch):
    """theta_{i,p} = theta_p s_i**(-2p/(d-2)), s_i = max(1, f (i + 1) / L - (f - 1)), in blocks of
    query rows of any size.
    """
    monkeypatch.setattr(kernels, "ROWS", rows)
    s = DynamicNTK(factor, mode="row").extend(rope(8, L, heads=2))
    q, k, v = qkv(s.shape, T)
    i, p = torch.arange(T, dtype=torch.float64), torch.arange(4, dtype=torch.float64)
    stretch = (factor * (i + 1) / L - (factor - 1)).clamp(min=1)
    theta = 10000.0 ** (-p / 4) * stretch[:, None, None] ** (-2 * p / 6)
    a = causal(logits(q, k, between(i), theta) * s.scale)
    close(kernels.attention(s, q, k, v, at(s, T)), a @ v, 1e-12)
    close(s.attend(q, k, v, at(s, T)), a @ v, 1e-12)


@pytest.mark.parametrize("name", ["rope", "xpos", "partial-rope", "keynorm-rope", "hwfa"])
def test_last_row_equals_the_sequence_mode_and_prefixes_are_kept(name):
    """One layer: every row of `row` is the last row of `sequence` on the text up to it."""
    shape = Shape(dim=16, heads=2, layers=2 if name == "hwfa" else 1, length=L, vocab=50)
    model = around(scheme(name, shape))
    x = torch.arange(T)[None] * 7 % 50
    with torch.no_grad():
        by_row, by_text = (AllLayers(DynamicNTK(mode=mode))(model) for mode in ("row", "sequence"))
        close(by_row(x[:, :30]), by_row(x)[:, :30], 1e-12)
        assert not torch.allclose(by_text(x[:, :30]), by_text(x)[:, :30], atol=1e-6)
        if shape.layers == 1:
            for n in (10, 17, T):
                close(by_row(x)[:, n - 1], by_text(x[:, :n])[:, -1], 1e-11)


@pytest.mark.parametrize("name", ["cope", "shaw", "fire", "forgetting", "t5"])
@torch.no_grad()
def test_content_biases_beside_it_read_turned_queries_and_keys(name):
    """Inside L it is the plain model; later rows are last rows of the text up to them."""
    shape = Shape(dim=16, heads=2, layers=1, length=L, vocab=50)
    beside = moved(
        scheme(name, shape, **({"max_distance": 8, "buckets": 8} if name == "t5" else {}))
    )
    model = around(Stack(shape, [RoPE(shape), beside]))
    x = torch.arange(T)[None] * 7 % 50
    by_row, by_text = (AllLayers(DynamicNTK(mode=mode))(model) for mode in ("row", "sequence"))
    close(by_row(x[:, :L]), model(x[:, :L]), 1e-12)
    for n in (L + 1, 30, T):
        close(by_row(x)[:, n - 1], by_text(x[:, :n])[:, -1], 1e-11)


def test_factor_of_a_row():
    assert [DynamicNTK().effective(n, 64) for n in (8, 64, 128)] == [1, 1, 2]
    assert DynamicNTK(4.0).effective(128, 64) == 5


def test_coordinates_may_be_spread():
    """Factor and row follow the count of tokens, angles the coordinates."""
    s = DynamicNTK(mode="row").extend(RoPE(Shape(dim=8, heads=1, length=L)))
    q, k, _ = qkv(s.shape, 20)
    t = torch.arange(20, dtype=torch.float64) * 2.5
    plain = scores(rope(8, L), q, k, at(s, t))
    close(s.score(q, k, at(s, t))[:, :, :L], plain[:, :, :L], 1e-12)


@torch.no_grad()
def test_layers_that_own_their_attention_stay_as_they_are_in_row_mode():
    shape = Shape(16, 2, 2, 16, 50)
    parts = [Only(shape, RoPE(shape), [0]), Only(shape, GatedDeltaRule(shape), [1])]
    model = around(Stack(shape, parts))
    x = torch.randint(50, (2, 16), generator=torch.Generator().manual_seed(0))
    for mode in ("row", "sequence"):
        close(AllLayers(DynamicNTK(2.0, mode))(model)(x), model(x))
