"""Frequencies that follow the length of the text or rank heads: dynamic NTK, Ms-PoE."""

import pytest
import torch

from extrap.extensions.all_layers import AllLayers
from extrap.extensions.dynamic_ntk import DynamicNTK
from extrap.extensions.ms_poe import MsPoE, PerHead
from extrap.model import attention as kernels
from extrap.model.scheme import Scheme, Shape, attend_rows
from extrap.model.stack import Only, Stack
from extrap.runs.validate import check
from extrap.schemes.delta_rule import GatedDeltaRule
from extrap.schemes.rope import RoPE
from extrap.schemes.window import Window
from extrap.utils.errors import NotApplicable
from tests.support.discover import scheme
from tests.support.explicit_phase import between, logits
from tests.support.extension_case import rope
from tests.support.jobs import job
from tests.support.scheme_case import around, at, causal, close, moved, qkv

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


@torch.no_grad()
def test_layers_that_own_their_attention_stay_as_they_are_in_row_mode():
    shape = Shape(16, 2, 2, 16, 50)
    parts = [Only(shape, RoPE(shape), [0]), Only(shape, GatedDeltaRule(shape), [1])]
    model = around(Stack(shape, parts))
    x = torch.randint(50, (2, 16), generator=torch.Generator().manual_seed(0))
    for mode in ("row", "sequence"):
        close(AllLayers(DynamicNTK(2.0, mode))(model)(x), model(x))


SHAPE = Shape(dim=24, heads=4, layers=2, length=32)


def test_ratios_follow_the_ranks_of_each_text():
    """Keys with more than `times` the mean weight of the last query, counted head by head."""
    m, T = MsPoE(times=1.5), 20
    q, k, _ = qkv(SHAPE, T)
    k[1] *= torch.arange(1, 5)[:, None, None]
    ours = m.ratios(q, k, at(Scheme(SHAPE), T))
    orders = set()
    for n in range(2):
        aware = []
        for h in range(4):
            weights = [float(q[n, h, -1] @ k[n, h, j] / 6**0.5) for j in range(T)]
            a = torch.tensor(weights).softmax(0)
            aware.append(sum(float(x) > 1.5 / T for x in a))
        order = sorted(range(4), key=lambda h: -aware[h])
        orders.add(tuple(order))
        for rank, h in enumerate(order):
            assert float(ours[n, h]) == pytest.approx(1.2 + 0.6 * rank / 4)
    assert len(orders) == 2  # each text has its own


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_a_head_is_rope_at_coordinates_of_its_own(layout):
    rope, T = RoPE(SHAPE, layout=layout), 9
    q, k, v = qkv(SHAPE, T)
    r = torch.tensor([[1.0, 1.5, 2.0, 4.0], [3.0, 1.0, 1.25, 1.0]], dtype=torch.float64)
    s = PerHead(lambda q, k, at: r, rope)
    ours = s.attend(q, k, v, at(s, T))
    for n in range(2):
        for h in range(4):
            place = at(rope, torch.arange(T, dtype=torch.float64) / r[n, h])
            turned = rope.rotate(q, k, place)
            close(ours[n, h], attend_rows(rope, *turned, v, place)[n, h])


def test_it_reaches_into_stacks_and_leaves_the_rest():
    s = MsPoE().extend(Stack(SHAPE, [RoPE(SHAPE), Window(SHAPE, 8)]))
    assert [type(p) for p in s.parts] == [PerHead, Window]


def test_tasks_that_score_tokens_inside_a_text_are_refused():
    """The ranks of the heads know the later tokens."""
    check(job("extension=ms-poe", "task=[kv]", tiny=("logger=none",)))
    with pytest.raises(NotApplicable):
        check(job("extension=ms-poe"))
    of_several = (
        ["task=[kv-wide]", "data=wide"],
        ["task=[kv-query]", "data=query"],
        ["task=[trace-written]", "data=trace-written"],
        ["task=[lost-in-the-middle]"],
    )
    for words in of_several:
        with pytest.raises(NotApplicable, match="depend on later ones"):
            check(job("extension=ms-poe", *words, tiny=("logger=none",)))
    with pytest.raises(NotApplicable):
        check(job("extension=ms-poe", "task=[kv]", "finetune=full", tiny=("logger=none",)))
