"""Options out of bounds are refused by name, and extensions on schemes where they make no sense."""

import pytest

from extrap.extensions.base import Extension
from extrap.extensions.bias_interpolation import BiasInterpolation
from extrap.extensions.by_parts import NTKByParts, YaRN
from extrap.extensions.chain import Chain
from extrap.extensions.clipped_rope import ClippedRoPE
from extrap.extensions.crop import Crop
from extrap.extensions.drope import DroPE
from extrap.extensions.dual_chunk import DualChunkAttention
from extrap.extensions.dynamic_ntk import DynamicNTK
from extrap.extensions.interpolation import Interpolation
from extrap.extensions.learned_table import LearnedTable
from extrap.extensions.log_n import ClippedLogN
from extrap.extensions.longrope import LongRoPE
from extrap.extensions.ms_poe import MsPoE
from extrap.extensions.nbce import NBCE
from extrap.extensions.ntk import NTK, NTKMixed
from extrap.extensions.parallel_windows import ParallelWindows
from extrap.extensions.pi_pair import PairInterpolation
from extrap.extensions.pose import EndPrompt, PoSE, RandomisedYaRN
from extrap.extensions.randomised_positions import RandomisedTest
from extrap.extensions.rerope import LeakyReRoPE, ReRoPE
from extrap.extensions.self_extend import SelfExtend
from extrap.extensions.shifted_positions import STRING
from extrap.extensions.streaming import StreamingLLM
from extrap.extensions.window import Windowed
from extrap.model.scheme import Scheme, Shape
from extrap.model.stack import Stack
from extrap.runs.build import build
from extrap.schemes.alibi import ALiBi
from extrap.schemes.keynorm import KeyNorm
from extrap.schemes.log_n import LogN
from extrap.schemes.multi_axis_rope import MultiAxisRoPE
from extrap.schemes.randomised import RandomisedPositions
from extrap.schemes.rope import RoPE
from extrap.schemes.sinusoidal import Sinusoidal
from extrap.schemes.t5 import T5
from extrap.utils.errors import NotApplicable, UserError
from tests.support.discover import scheme
from tests.support.scheme_case import around

SHAPE = Shape(dim=32, heads=4, layers=4, length=64, vocab=50)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:extrap")


@pytest.mark.parametrize(
    "cls, options, option",
    [
        (BiasInterpolation, {"factor": 0.5}, "factor"),
        (ClippedRoPE, {"clipped": 0}, "clipped"),
        (Crop, {"stride": 0}, "stride"),
        (Interpolation, {"factor": 0.0}, "factor"),
        (LeakyReRoPE, {"factor": 0.5}, "factor"),
        (LeakyReRoPE, {"k": 1.0}, "k"),
        (LongRoPE, {"long": [1.0, 0.0]}, "long"),
        (MsPoE, {"least": 0.9}, "least"),
        (MsPoE, {"least": 2.0}, "least"),
        (MsPoE, {"times": 0.0}, "times"),
        (NBCE, {"beta": -0.1}, "beta"),
        (NBCE, {"stickiness": -1.0}, "stickiness"),
        (NBCE, {"top_p": 0.0}, "top_p"),
        (NBCE, {"top_p": 1.1}, "top_p"),
        (NTK, {"factor": 0.5}, "factor"),
        (NTKByParts, {"beta_slow": 3.0, "beta_fast": 2.0}, "beta_slow"),
        (NTKMixed, {"b": -1.0}, "b"),
        (PairInterpolation, {"pair": -1}, "pair"),
        (PoSE, {"method": Interpolation(None)}, "method"),
        (PoSE, {"method": Interpolation(1.0)}, "method"),
        (PoSE, {"method": DynamicNTK(2.0)}, "method"),
        (RandomisedTest, {"test": "sampled", "longest": 128}, "longest"),
        (RandomisedYaRN, {"method": Interpolation(4.0)}, "method"),
        (SelfExtend, {"factor": 0.5}, "factor"),
        (StreamingLLM, {"recent": 0}, "recent"),
        (StreamingLLM, {"sinks": -1}, "sinks"),
        (Windowed, {"width": 0}, "width"),
        (YaRN, {"beta_slow": 4.0}, "beta_slow"),
        (YaRN, {"slope": -0.1}, "slope"),
    ],
)
def test_an_option_out_of_bounds_is_named(cls, options, option):
    with pytest.raises(UserError) as error:
        build({"_target_": f"{cls.__module__}.{cls.__name__}"} | options, "extension")
    assert error.value.option.split(".")[:2] == ["extension", option]


PLAIN, ROPE = Scheme(SHAPE), RoPE(SHAPE)
DISTANCE_MAPS = (ReRoPE(), LeakyReRoPE(), SelfExtend())
CHUNKS = (DualChunkAttention(), STRING())
UNMAPPED = ("nope", "cope", "forgetting", "fire", "sinusoidal", "linear-rope", "tupe-a", "learned")
UNMAPPED += ("randomised-rope", "shaw")
NO_COORDINATE = ("nope", "cope", "forgetting", "alibi", "t5", "fire", "learned", "urpe", "tupe-a")
REFUSED: list[tuple[Extension, str | Scheme]] = [
    *((extension, name) for extension in DISTANCE_MAPS for name in UNMAPPED),
    *((e, name) for e in CHUNKS for name in ("nope", "sinusoidal", "linear-rope")),
    *((Interpolation(), name) for name in NO_COORDINATE),
    *((BiasInterpolation(), name) for name in ("nope", "rope", "cope", "t5-urpe", "tupe-a")),
    (BiasInterpolation(), Stack(SHAPE, [Sinusoidal(SHAPE), ALiBi(SHAPE)])),
    *((ClippedLogN(), name) for name in ("log-n", "ssmax", "window", "learned", "linear-rope")),
    *((ClippedLogN(), name) for name in ("lerope", "rope-asentmax", "chunked-nope")),
    *((ClippedLogN(), name) for name in ("rope-sigmoid", "rope-softpick", "stick-breaking")),
    (ClippedRoPE("hard"), RoPE(Shape(16, 2, 1, length=7000), base=10.0)),
    (Chain(NTKMixed(), ClippedLogN()), "alibi"),
    (Chain(NTKMixed(), ClippedLogN()), "rope-logn-softmax1"),
    (Crop(64), "rope"),
    (DroPE(), "nope"),
    (DroPE(), "linear-rope"),
    (DualChunkAttention(farthest=64), "rope"),
    (DualChunkAttention(window=40), "rope"),
    (DynamicNTK(mode="row"), "vo-rope"),
    (EndPrompt(Interpolation(4.0), 0), "rope"),
    (EndPrompt(Interpolation(4.0), 64), "rope"),
    (LearnedTable("clamp"), "rope"),
    (LearnedTable("clamp"), "learned-clamp"),
    (LeakyReRoPE(width=63), "rope"),
    (LongRoPE(4.0, long=[1.0, 2.0]), "rope"),
    (LongRoPE(4.0, short=[1.0] * 5), "rope"),
    (MsPoE(), PLAIN),
    (MsPoE(), MultiAxisRoPE(SHAPE)),
    (MsPoE(), "xpos"),
    (MsPoE(), RoPE(Shape(dim=6, heads=1))),
    (MsPoE(), Stack(SHAPE, [ROPE, LogN(SHAPE)])),
    (MsPoE(), Stack(SHAPE, [ROPE, KeyNorm(SHAPE)])),
    (MsPoE(), DynamicNTK(mode="row").extend(RoPE(SHAPE))),
    (MsPoE(), RoPE(Shape(dim=24, heads=4, kv_heads=2))),
    (NBCE(window=0), "rope"),
    (NBCE(window=64), "rope"),
    *((NTK(4.0), name) for name in ("alibi", "inverse-leaky-rope", "selective-rope")),
    (NTKByParts(4.0, beta_slow=0.1, beta_fast=0.2), "hope"),
    (PairInterpolation(2.0, 4), "rope"),
    *((ParallelWindows(window=window), "rope") for window in (0, 63)),
    (ParallelWindows(), "linear-rope"),
    (PoSE(LongRoPE(8.0)), "rope"),
    (PoSE(Interpolation(4.0)), Stack(SHAPE, [RandomisedPositions(SHAPE), ROPE])),
    (RandomisedTest("stride"), "rope"),
    (RandomisedTest("even"), "randomised-rope"),
    (RandomisedTest("stride", longest=7), "randomised-rope"),
    *((ReRoPE(width), "rope") for width in (0, 65)),
    (ReRoPE(32), T5(SHAPE, max_distance=32)),
    (SelfExtend(window=30, group=4), "rope"),
    (SelfExtend(16.0, window=16), "rope"),
    (StreamingLLM(), "learned"),
    (StreamingLLM(), "linear-rope"),
    (StreamingLLM(sinks=4, recent=61), "rope"),
    (StreamingLLM(sinks=64), "rope"),
    (STRING(shift=65), "rope"),
    (STRING(shift=10, local=11), "rope"),
    (STRING(shift=10, local=10), "rope"),
    (Windowed(), "window"),
    (Windowed(64), "xpos-window"),
    (Windowed(), "learned"),
    (Windowed(), "linear-rope"),
    (YaRN(4.0), "sinusoidal"),
    (YaRN(4.0), "linear-rope"),
]


@pytest.mark.parametrize("extension, on", REFUSED)
def test_what_makes_no_sense_on_a_scheme_is_refused(extension, on):
    s = scheme(on, SHAPE) if isinstance(on, str) else on
    model = around(s)
    with pytest.raises(NotApplicable) as error:
        extension(model)
    assert "\n" not in str(error.value) and " on " in str(error.value)


@pytest.mark.parametrize(
    "extension, on",
    [
        (ReRoPE(24), T5(SHAPE, max_distance=32)),
        (SelfExtend(8.0, window=16), ROPE),
        (Windowed(8), scheme("xpos-window", SHAPE)),
        (Windowed(), scheme("hwfa", SHAPE)),
    ],
)
def test_what_makes_sense_is_not(extension, on):
    assert extension(around(on))
