"""The rule on mixed stacks: extensions act on layers that see the whole text, windows and chunks
stay as they are, and what changes nothing is refused. Held on every layer pattern in conf/scheme.
"""

import copy

import pytest
import torch

from extrap.extensions.all_layers import AllLayers
from extrap.extensions.base import SchemeExtension
from extrap.extensions.bias_interpolation import BiasInterpolation
from extrap.extensions.by_parts import YaRN
from extrap.extensions.interpolation import Interpolation
from extrap.extensions.layers import global_layers
from extrap.extensions.ntk import NTK
from extrap.extensions.probe import check_changes, responses
from extrap.extensions.rerope import ReRoPE
from extrap.model.attention import attention
from extrap.model.scheme import Scheme, Shape
from extrap.model.spectrum import turning_layers
from extrap.model.stack import InLayers, Only, Stack
from extrap.runs.build import build
from extrap.schemes.alibi import ALiBi
from extrap.schemes.delta_rule import GatedDeltaRule
from extrap.schemes.rope import RoPE
from extrap.schemes.window import Window
from extrap.tasks.diagnosis.effective import frequency_rows
from extrap.utils.errors import NotApplicable
from tests.support.discover import gpt, names, node
from tests.support.scheme_case import around, at, qkv

L = 24
SHAPE = Shape(dim=16, heads=2, layers=4, length=L, vocab=30)
DEEP = {"dim": 16, "heads": 2, "layers": 4, "length": L, "vocab": 30}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:extrap")


def response(scheme, t):
    """Returns the responses of all layers: (layers, H, rows, D)."""
    return torch.stack([*responses(scheme, t)])


def windowed(part: Scheme, layers: str = "not 3::4", width: int = 8) -> Stack:
    """A part in all layers, a window in some."""
    return Stack(SHAPE, [part, Only(SHAPE, Window(SHAPE, width), layers)])


def patterns() -> list[str]:
    """Schemes in conf/scheme whose layers differ, by what stands in their files."""
    return [name for name in names("scheme") if "stack.Only" in str(node("scheme", name))]


def test_a_layer_is_local_if_it_never_sees_more_than_in_training():
    assert global_layers(RoPE(SHAPE)) == {0, 1, 2, 3}
    assert global_layers(windowed(RoPE(SHAPE))) == {3}
    assert global_layers(windowed(RoPE(SHAPE), width=L)) == {3}
    assert global_layers(windowed(RoPE(SHAPE), width=L + 1)) == {0, 1, 2, 3}
    assert global_layers(windowed(RoPE(SHAPE), ":")) == {0, 1, 2, 3}  # all alike: nothing to keep


@pytest.mark.parametrize(
    "extension, part",
    [
        (YaRN(4.0), RoPE(SHAPE)),
        (NTK(4.0), RoPE(SHAPE)),
        (Interpolation(4.0), RoPE(SHAPE)),
        (ReRoPE(5), RoPE(SHAPE)),
        (BiasInterpolation(4.0), ALiBi(SHAPE)),
        (ReRoPE(5), ALiBi(SHAPE)),
    ],
)
def test_global_layers_are_as_without_windows_and_local_ones_as_without_extension(extension, part):
    t = torch.arange(4 * L, dtype=torch.float64)
    plain = windowed(part)
    extended = extension.applied(copy.deepcopy(plain))
    alone = extension.extend(copy.deepcopy(part))
    ours, before = response(extended, t), response(plain, t)
    torch.testing.assert_close(ours[:3], before[:3], rtol=0, atol=0)
    torch.testing.assert_close(ours[3], response(alone, alone.positions(t))[3])
    assert (ours[3] - before[3]).abs().max() > 1e-3


def test_told_otherwise_it_acts_on_windows_too():
    t = torch.arange(4 * L, dtype=torch.float64)
    plain = windowed(RoPE(SHAPE))
    everywhere = AllLayers(YaRN(4.0)).applied(copy.deepcopy(plain))
    moved = (response(everywhere, t) - response(plain, t)).abs().amax((1, 2, 3))
    assert (moved > 1e-3).all()


def test_what_turns_in_windows_alone_is_left_alone():
    """Global layers without positions below local RoPE: there is nothing to slow."""
    only = Stack(SHAPE, [Only(SHAPE, RoPE(SHAPE), "0:3"), Only(SHAPE, Window(SHAPE, 8), "0:3")])
    for extension in (YaRN(4.0), NTK(4.0), Interpolation(4.0), ReRoPE(5)):
        with pytest.raises(NotApplicable):
            extension(around(only))
    assert isinstance(AllLayers(NTK(4.0))(around(only)).scheme, Stack)


def test_temperatures_go_with_what_turns():
    """RoPE in three layers of four, all of which see the whole text: YaRN heats these three."""
    s = YaRN(4.0).applied(Only(SHAPE, RoPE(SHAPE), "not every 4"))
    at = around(s).where(torch.zeros(1, 40, dtype=torch.long))
    heated = [s.temperature(at.at_layer(layer, None)) is not None for layer in range(4)]
    assert heated == [True, True, True, False]


@pytest.mark.sample(30)
@pytest.mark.parametrize("name", patterns())
@pytest.mark.parametrize("extension", names("extension"))
@torch.no_grad()
def test_windows_of_every_pattern_stay(name, extension):
    """Whatever an extension does, what the local layers make of their queries is what it was."""
    built = build(node("extension", extension), "extension")
    model = gpt(name, **DEEP)
    if not isinstance(built, SchemeExtension) or built.layers == "all":
        return
    if len(global_layers(model.scheme)) == 4:
        pytest.skip("no layer of it is local")
    try:
        extended = built(model).scheme
    except NotApplicable:
        return
    far, t = global_layers(model.scheme), torch.arange(3 * L, dtype=torch.float64)
    assert isinstance(extended, Stack | InLayers)
    assert torch.equal(extended.positions(t), model.scheme.positions(t))
    local = [layer for layer in range(4) if layer not in far]
    ours, plain = response(extended, t), response(model.scheme, t)
    torch.testing.assert_close(ours[local], plain[local], rtol=0, atol=0)
    assert not torch.equal(ours, plain)


@pytest.mark.parametrize("extension", [NTK(4.0), Interpolation(4.0)])
def test_rows_tell_the_frequencies_of_each_layer(extension):
    """PI cannot squeeze coordinates that local layers share: it divides distances in the others."""
    plain = windowed(RoPE(SHAPE))
    rows = frequency_rows(plain, extension.applied(copy.deepcopy(plain)), doublings=1)
    theta = [r for r in rows if r["metric"] == "theta"]
    trained = [r for r in theta if r["protocol"] == "trained"]
    assert [r.get("layer") for r in trained] == [None] * 4  # all layers alike: said once
    last = {r["layer"]: r["value"] for r in theta if r["protocol"] == "used" and r["at"] == 3}
    assert last == pytest.approx({0: 1e-3, 1: 1e-3, 2: 1e-3, 3: 1e-3 / 4})


def test_layers_whose_attention_is_owned_are_passed_over():
    """Three delta rules to one layer of RoPE with log-n, as in Qwen3-Next."""
    s = Stack(
        SHAPE,
        [
            Only(SHAPE, GatedDeltaRule(SHAPE), "not every 4"),
            Only(SHAPE, RoPE(SHAPE), "every 4"),
        ],
    )
    assert turning_layers(s) == {3}
    text = torch.randint(30, (1, 3 * L), generator=torch.Generator().manual_seed(0))
    for extension in (YaRN(4.0), ReRoPE(5), Interpolation(4.0)):
        model = around(s)
        extended = extension(model)
        assert extended(text).isfinite().all()
        assert (extended(text) - model(text)).abs().max() > 1e-6


@pytest.mark.parametrize("extension", [NTK(1.0), YaRN(1.0), Interpolation(1.0)])
def test_an_extension_that_changes_no_logit_is_refused(extension):
    with pytest.raises(NotApplicable):
        extension(gpt("rope", **DEEP))


def test_a_deep_model_is_looked_at_as_far_as_the_first_layer_that_differs():
    """Thirty layers of a window of 8192 tokens took a minute, in every job of a sweep."""
    plain = RoPE(Shape(32, 4, 12, 64, 50))
    seen: list[int] = []

    class Watched(RoPE):
        def rotate(self, q, k, at):
            seen.append(at.layer)
            return super().rotate(q, k, at)

    check_changes(plain, Watched(plain.shape, base=100.0))
    assert seen == [0]
    seen.clear()
    with pytest.raises(ValueError):
        check_changes(plain, Watched(plain.shape))
    assert seen == list(range(12))


def test_what_acts_on_all_layers_reaches_those_that_another_left_alone():
    """After a method for global layers, local ones are read as under the second method alone."""
    model = around(windowed(RoPE(SHAPE)))
    every = AllLayers(YaRN(4.0))
    alone, chained = every(model).scheme, every(NTK(4.0)(model)).scheme
    q, k, v = qkv(SHAPE, 3 * L)
    for layer in (0, 1, 2):
        one, two = (
            attention(scheme, q, k, v, at(scheme, 3 * L).at_layer(layer, q))
            for scheme in (alone, chained)
        )
        assert torch.equal(one, two)
