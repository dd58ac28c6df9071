"""Layer patterns and windows: what each layer sees and turns, against Llama 4 and the
configurations of the models named in transformers.
"""

from dataclasses import replace
from math import log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme, Shape
from extrap.model.spectrum import frequencies_used, turning_layers
from extrap.schemes.chunked import Chunks, StepHeat
from extrap.schemes.rope import RoPE
from extrap.schemes.window import ReachWindow, Window
from tests.support.discover import gpt, scheme
from tests.support.scheme_case import around, at

L = 24
DEEP = {"dim": 16, "heads": 2, "layers": 8, "length": L, "vocab": 30}


def placed(model, T: int):
    return model.where(torch.zeros(1, T, dtype=torch.long))


def seen(model, layer: int, T: int = 60) -> int:
    """Most keys that a query of this layer sees among T tokens."""
    return int(placed(model, T).at_layer(layer, None).visible.sum(-1).max())


def kinds_of_layers(config: str) -> list:
    """Returns what transformers says of each of eight layers."""
    import transformers

    pattern = {"sliding_window_pattern": 4} if config == "Gemma3TextConfig" else {}
    made = getattr(transformers, config)(num_hidden_layers=8, **pattern)
    return made.no_rope_layers if config == "SmolLM3Config" else made.layer_types


@pytest.mark.parametrize(
    "name, local, turning, theirs",
    [
        ("rnope-swa", True, "local", "Cohere2Config"),
        ("two-bases", True, "all", "Gemma3TextConfig"),
        ("two-bases-p-rope", True, "all", None),
        ("chunked-nope", True, "local", "Llama4TextConfig"),
        ("every-fourth-nope", False, "local", "SmolLM3Config"),
    ],
)
def test_three_to_one(name, local, turning, theirs):
    model = gpt(name, **DEEP)
    far = [3, 7]
    near = [0, 1, 2, 4, 5, 6]
    assert [seen(model, layer) for layer in near] == [6 if local else 60] * 6
    assert [seen(model, layer) for layer in far] == [60] * 2
    assert turning_layers(model.scheme) == set(near if turning == "local" else range(8))
    if theirs is not None:
        ours = [layer in far for layer in range(8)]
        assert ours == [kind in ("full_attention", 0) for kind in kinds_of_layers(theirs)]


def test_bases():
    model = gpt("two-bases", **DEEP)
    slowest = [float(frequencies_used(model.scheme, 9, n)[-1]) for n in range(4)]
    assert slowest == pytest.approx([1e4**-0.75] * 3 + [1e6**-0.75])
    quarter = gpt("two-bases-p-rope", **DEEP).scheme
    assert frequencies_used(quarter, 9, 3).tolist() == pytest.approx([1, 0, 0, 0])
    assert frequencies_used(quarter, 9, 0).tolist() == pytest.approx([1, 0.1, 0.01, 0.001])


def test_delta_rules_below_attention():
    s = gpt("delta-rule-nope", **DEEP).scheme
    assert [s.uses("attend", layer=n) for n in range(8)] == ([True] * 3 + [False]) * 2


def test_chunks_by_the_order_of_tokens():
    s = Chunks(Shape(dim=8, heads=2, length=12), share=0.25)
    visible = s.sees(at(s, torch.arange(7, dtype=torch.float64) * 1.5 + 4))
    rows = [[0], [0, 1], [0, 1, 2], [3], [3, 4], [3, 4, 5], [6]]
    for i, row in enumerate(rows):
        assert [j for j in range(i + 1) if visible[i, j]] == row


def test_temperatures_are_those_of_llama_4():
    """attn_scale ln(floor((i + 1) / floor_scale) + 1) + 1, transformers' line written out."""
    s = StepHeat(Shape(dim=8, heads=2, length=32))
    c = s.temperature(at(s, 70))[:, 0]
    theirs = torch.log1p(torch.floor((torch.arange(70.0) + 1.0) / 8)) * 0.1 + 1.0
    torch.testing.assert_close(c.float(), theirs)
    assert float(c[6]) == 1 and float(c[15]) == pytest.approx(1 + 0.1 * log(3))


def hwfa(layers: int, length: int = 24) -> GPT:
    shape = Shape(dim=16, heads=2, layers=layers, length=length, vocab=30)
    return around(scheme("hwfa", shape))


@torch.no_grad()
def test_hwfa_is_rope_below_log_n_without_positions():
    m = hwfa(3)
    s, q = m.scheme, torch.randn(1, 2, 48, 8, dtype=torch.float64)
    at = m.where(torch.zeros(1, 48, dtype=torch.long))
    for layer in (0, 1):
        here = at.at_layer(layer, None)
        assert s.temperature(here) is None and int(here.count.max()) == 9
        torch.testing.assert_close(s.rotate(q, q, here)[0], RoPE(s.shape).rotate(q, q, here)[0])
    last = at.at_layer(2, None)
    assert s.rotate(q, q, last)[0] is q and int(last.count.max()) == 48
    assert float(s.temperature(last)[23]) == 1 and float(s.temperature(last)[47]) > 1


SHAPE = Shape(dim=8, heads=2, layers=3, length=64)


def windowed(s: Scheme, t):
    return replace(at(s, t), sees=s.sees)


@given(width=st.integers(1, 20), T=st.integers(1, 20))
@settings(max_examples=15, deadline=None)
def test_a_window_sees_what_transformers_sees(width, T):
    from transformers.masking_utils import sliding_window_overlay

    visible, theirs = windowed(Window(SHAPE, width), T).visible, sliding_window_overlay(width)
    for i in range(T):
        assert visible[i].tolist() == [j <= i and bool(theirs(0, 0, i, j)) for j in range(T)]


def test_a_window_counts_tokens_whatever_their_coordinates():
    t = torch.tensor([0, 0.5, 9, 100], dtype=torch.float64)
    assert torch.equal(windowed(Window(SHAPE, 2), t).visible, windowed(Window(SHAPE, 2), 4).visible)


@pytest.mark.parametrize(
    "layers, alpha, width",
    [(2, 0.75, 48), (3, 0.75, 24), (4, 0.75, 16), (5, 0.5, 8), (49, 0.75, 1)],
)
def test_windows_reach_a_share_of_the_training_length(layers, alpha, width):
    s = ReachWindow(Shape(8, 2, layers=layers, length=64), alpha)
    assert s.width == width
    assert (width - 1) * (layers - 1) + 1 <= alpha * 64 < width * (layers - 1) + 1
    assert torch.equal(s.sees(at(s, 80)), Window(SHAPE, width).sees(at(s, 80)))
    assert ReachWindow(Shape(8, 2, layers=2, length=100), 0.57).width == 57  # .57 x 100 < 57
