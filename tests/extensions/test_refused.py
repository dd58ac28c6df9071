"""Options out of bounds are refused by name, and extensions on schemes where they make no sense.
Which schemes an extension refuses as it stands in its file: tests/contracts/test_extensions.py.
"""

from dataclasses import replace

import pytest
import torch

from extrap.extensions.base import Extension
from extrap.extensions.by_parts import YaRN
from extrap.extensions.dynamic_ntk import DynamicNTK
from extrap.extensions.interpolation import Interpolation
from extrap.extensions.probe import check_changes
from extrap.model.scheme import Scheme, Shape
from extrap.model.stack import Stack
from extrap.schemes.alibi import ALiBi
from extrap.schemes.gape import GAPE
from extrap.schemes.randomised import RandomisedPositions
from extrap.schemes.rope import RoPE
from extrap.schemes.sinusoidal import Sinusoidal
from extrap.schemes.t5 import T5
from extrap.utils.errors import NotApplicable, UserError
from tests.support.discover import made, node, scheme
from tests.support.scheme_case import around

SHAPE = Shape(dim=32, heads=4, layers=4, length=64, vocab=50)
ROPE = RoPE(SHAPE)
FLOATS = scheme("random-floats", SHAPE)


class Denser(Scheme):
    """Positions of a range of L, the denser the longer the text."""

    def positions(self, t):
        return torch.linspace(0, self.shape.length, len(t) + 1, dtype=torch.float64)[:-1]


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:extrap")


def extension(name: str, options: dict) -> Extension:
    return made(node("extension", name) | options, "extension")


@pytest.mark.parametrize(
    "name, option, values",
    [
        ("bias-interpolation", "factor", [0.5]),
        ("clipped-rope", "clipped", [0]),
        ("crop", "stride", [0]),
        ("pi", "factor", [0.0]),
        ("leaky-rerope", "factor", [0.5]),
        ("leaky-rerope", "k", [1.0]),
        ("longrope", "long", [[1.0, 0.0]]),
        ("ms-poe", "least", [0.9, 2.0]),
        ("ms-poe", "times", [0.0]),
        ("nbce", "beta", [-0.1]),
        ("nbce", "stickiness", [-1.0]),
        ("nbce", "top_p", [0.0, 1.1]),
        ("ntk", "factor", [0.5]),
        ("layer-factors", "controls", [[], [0.5, 2.0]]),
        ("llama3", "beta_slow", [5.0]),
        ("ntk-su-mixed", "b", [-1.0]),
        ("pi-pair", "pair", [-1]),
        ("pose", "method", [Interpolation(None), Interpolation(1.0)]),
        ("pose-yarn", "method", [YaRN(None), YaRN(1.0)]),
        ("randomised-sampled", "longest", [128]),
        ("randomised-yarn", "method", [Interpolation(4.0)]),
        ("self-extend", "factor", [0.5]),
        ("self-extend", "group", [0, -1]),
        ("streaming-llm", "recent", [0]),
        ("streaming-llm", "sinks", [-1]),
        ("wave-prune", "periods", [0.0, -1.0]),
        ("window", "width", [0]),
        ("yarn", "beta_slow", [4.0]),
        ("yarn", "slope", [-0.1]),
    ],
)
def test_an_option_out_of_bounds_is_named(name, option, values):
    for value in values:
        with pytest.raises(UserError) as error:
            extension(name, {option: value})
        assert error.value.option.split(".")[:2] == ["extension", option]


@pytest.mark.parametrize(
    "name, options, on",
    [
        ("bias-interpolation", {}, Stack(SHAPE, [Sinusoidal(SHAPE), ALiBi(SHAPE)])),
        ("clipped-rope-hard", {}, RoPE(Shape(16, 2, 1, length=7000), base=10.0)),
        ("crop", {"stride": 64}, ROPE),
        ("dual-chunk", {"farthest": 64}, ROPE),
        *(("dual-chunk", {"window": n}, ROPE) for n in (0, 40)),
        *(("end-prompt", {"terminal": n}, ROPE) for n in (0, 64)),
        ("leaky-rerope", {"width": 63}, ROPE),
        ("longrope", {"long": [1.0, 2.0]}, ROPE),
        ("longrope", {"short": [1.0] * 5}, ROPE),
        ("ms-poe", {}, RoPE(Shape(dim=6, heads=1))),
        ("ms-poe", {}, DynamicNTK(mode="row").extend(RoPE(SHAPE))),
        ("ms-poe", {}, GAPE(SHAPE)),
        ("wave-prune", {}, GAPE(SHAPE)),
        ("ms-poe", {}, RoPE(Shape(dim=24, heads=4, kv_heads=2))),
        *(("nbce", {"window": n}, ROPE) for n in (0, 64)),
        ("ntk-by-parts", {"beta_slow": 0.1, "beta_fast": 0.2}, scheme("hope", SHAPE)),
        ("pi-pair", {"pair": 4}, ROPE),
        *(("parallel-windows", {"window": n}, ROPE) for n in (0, 63)),
        ("pose", {"method": node("extension", "longrope")}, ROPE),
        ("pose", {"method": node("extension", "ntk-dynamic") | {"factor": 2.0}}, ROPE),
        ("pose", {}, Stack(SHAPE, [RandomisedPositions(SHAPE), ROPE])),
        ("randomised-stride", {"test": "even"}, scheme("randomised-rope", SHAPE)),
        ("randomised-stride", {"longest": 7}, scheme("randomised-rope", SHAPE)),
        *(("rerope", {"width": n}, ROPE) for n in (0, 65)),
        *(
            (name, {}, scheme("random-floats", SHAPE))
            for name in ("rerope", "string", "dual-chunk")
        ),
        *((name, {}, Stack(SHAPE, [Denser(SHAPE), ROPE])) for name in ("rerope", "self-extend")),
        ("rerope", {"width": 32}, T5(SHAPE, max_distance=32)),
        ("self-extend", {"window": 30, "group": 4}, ROPE),
        ("self-extend", {"factor": 16.0, "window": 16}, ROPE),
        ("streaming-llm", {"sinks": 4, "recent": 61}, ROPE),
        ("streaming-llm", {"sinks": 64}, ROPE),
        ("lm-infinite", {"recent": 65}, ROPE),
        *(("jet-long", {"width": n}, ROPE) for n in (0, 64)),
        ("string", {"shift": 65}, ROPE),
        *(("string", {"shift": 10, "local": n}, ROPE) for n in (10, 11)),
        ("window", {"width": 64}, scheme("xpos-window", SHAPE)),
    ],
)
def test_what_makes_no_sense_on_a_scheme_is_refused(name, options, on):
    with pytest.raises(NotApplicable) as error:
        extension(name, options)(around(on))
    assert "\n" not in str(error.value) and " on " in str(error.value)


@pytest.mark.parametrize(
    "name, options, on",
    [
        ("rerope", {"width": 24}, T5(SHAPE, max_distance=32)),
        ("self-extend", {"factor": 8.0, "window": 16}, ROPE),
        ("window", {"width": 8}, scheme("xpos-window", SHAPE)),
        ("window", {}, scheme("hwfa", SHAPE)),
        ("rerope", {}, scheme("equal-mean-rope-logn", SHAPE)),
        ("streaming-llm", {}, FLOATS),
    ],
)
def test_what_makes_sense_is_not(name, options, on):
    assert extension(name, options)(around(on))


class Owned(Scheme):
    """RoPE as a scheme that owns attention; by default at half the angles."""

    def __init__(self, shape, times=0.5):
        super().__init__(shape)
        self.rope, self.times = RoPE(shape), times

    def attend(self, q, k, v, at):
        of_q, of_k = at.q * self.times, at.k * self.times
        return self.rope.attend(q, k, v, replace(at, q=of_q, k=of_k))


def test_an_extension_may_own_attention_and_changes_a_logit():
    check_changes(ROPE, Owned(SHAPE))
    with pytest.raises(ValueError, match="changes no logit"):
        check_changes(ROPE, Owned(SHAPE, 1.0))
