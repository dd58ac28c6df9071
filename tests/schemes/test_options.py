"""Options of all schemes: what is out of bounds is refused by its name, and defaults follow the
training length.
"""

from dataclasses import replace

import pytest

from extrap.model.scheme import Scheme, Shape
from extrap.model.stack import Stack
from extrap.runs.build import build
from extrap.schemes.abacus import Abacus
from extrap.schemes.alibi import ALiBi
from extrap.schemes.chunked import Chunks, StepHeat
from extrap.schemes.complex_order import ComplexOrder
from extrap.schemes.concatenated import ConcatenatedProjected, ConcatenatedSplit
from extrap.schemes.cope import CoPE
from extrap.schemes.deberta import DeBERTa
from extrap.schemes.delta_rule import GatedDeltaRule, PassedState
from extrap.schemes.digits import Digits
from extrap.schemes.entmax import ASEntmax
from extrap.schemes.fire import FIRE
from extrap.schemes.floater import Floater, FloaterQKV
from extrap.schemes.fope import FoPE
from extrap.schemes.gape import GAPE
from extrap.schemes.hope import HoPE
from extrap.schemes.inverse_leaky import InverseLeaky
from extrap.schemes.keynorm import CosA
from extrap.schemes.learned import Learned
from extrap.schemes.linear_rope import CosineLinearRoPE, LinearRoPE
from extrap.schemes.log_n import LogN
from extrap.schemes.multi_axis_rope import MultiAxisRoPE
from extrap.schemes.multiplicative import MultiplicativeLearned, MultiplicativeSinusoidal
from extrap.schemes.p_rope import PRoPE
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.path import PaTH
from extrap.schemes.polar import PolarAttention
from extrap.schemes.pope import PoPE
from extrap.schemes.random_floats import RandomFloats
from extrap.schemes.randomised import RandomisedPositions
from extrap.schemes.raw_index import RawIndex
from extrap.schemes.relative_projection import RelativeProjection
from extrap.schemes.rope import RoPE
from extrap.schemes.rope_id import RoPEID
from extrap.schemes.sandwich import Sandwich
from extrap.schemes.selective_rope import SelectiveRoPE
from extrap.schemes.shaw import Shaw
from extrap.schemes.sinusoidal import Sinusoidal
from extrap.schemes.ssmax import SSMax
from extrap.schemes.t5 import T5
from extrap.schemes.transformer_xl import TransformerXL
from extrap.schemes.tupe import TUPE
from extrap.schemes.urpe import URPE
from extrap.schemes.vo_rope import VORoPE
from extrap.schemes.window import ReachWindow, ShareWindow, Window
from extrap.schemes.xpos import XPos
from extrap.utils.errors import UserError

SHAPE = Shape(dim=16, heads=2, layers=2, length=32)
INNER = {"_target_": "extrap.schemes.rope.RoPE"}
ODD = {"dim": 15, "heads": 1}
REFUSED: list[tuple[type[Scheme], str, list]] = [
    (Abacus, "ids", [0]),
    (ALiBi, "slopes", [[0.5], [0.5, 0.0], [0.5, -1.0]]),
    (Chunks, "share", [0.0, 1.5]),
    (ComplexOrder, "base", [1.0]),
    (ConcatenatedProjected, "width", [0, 3]),
    (ConcatenatedProjected, "base", [0.5]),
    (ConcatenatedSplit, "width", [0, 3, 16]),
    (CoPE, "pmax", [1, 33]),
    (CosA, "lam", [0.0, -1.0]),
    (CosineLinearRoPE, "base", [1.0]),
    (DeBERTa, "span", [1, 33]),
    (Digits, "base", [-2, 0, 1]),
    (ASEntmax, "delta", [-1.0]),
    (FIRE, "threshold", [0, 32]),
    (FIRE, "hidden", [0]),
    (Floater, "delta", [0.0]),
    (FloaterQKV, "steps", [0]),
    (FoPE, "base", [1.0]),
    (FoPE, "noise", [-0.1]),
    (GAPE, "base", [1.0]),
    (GatedDeltaRule, "taps", [0]),
    (HoPE, "turns", [-1.0]),
    (Learned, "rows", [31]),
    (LinearRoPE, "base", [1.0]),
    (LogN, "floor", [-0.1]),
    (MultiAxisRoPE, "axes", [0, 3]),
    (MultiAxisRoPE, "width", [1]),
    (MultiplicativeLearned, "rows", [31]),
    (MultiplicativeSinusoidal, "amplitude", [0.0]),
    (MultiplicativeSinusoidal, "base", [1.0]),
    (PartialRoPE, "fraction", [0.0, 0.1, 0.375, 1.25]),
    (PRoPE, "fraction", [-0.1, 1.1]),
    (PassedState, "texts", [0]),
    (PoPE, "base", [1.0]),
    (RandomFloats, "maximum", [0.0, -1.0]),
    (RandomisedPositions, "maximum", [31]),
    (RandomisedPositions, "longest", [31, 2000]),
    (RawIndex, "step", [0.0]),
    (ReachWindow, "alpha", [0.8, 0.0, 0.01]),
    (RelativeProjection, "extent", [1, 33]),
    (RelativeProjection, "curves", [0]),
    (RoPE, "base", [1.0]),
    (RoPE, "layout", [[0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6, 6]]),
    (RoPEID, "fraction", [0.1]),
    (RoPEID, "turns", [0.0, 16.0]),
    (Sandwich, "width", [0, 7, -2]),
    (SelectiveRoPE, "base", [1.0]),
    (ShareWindow, "share", [0.0, 1.5]),
    (Shaw, "clip", [0, 32]),
    (Sinusoidal, "base", [1.0]),
    (Sinusoidal, "emb_scale", [0.0]),
    (StepHeat, "slope", [-1.0]),
    (T5, "buckets", [0, 7, 64]),
    (TransformerXL, "clamp", [0]),
    (TUPE, "rows", [31]),
    (TUPE, "relative", [RoPE(SHAPE), Stack(SHAPE, [ALiBi(SHAPE), RoPE(SHAPE)]), Scheme(SHAPE)]),
    (URPE, "span", [1, 33]),
    (VORoPE, "base", [0.5]),
    (VORoPE, "layout", [[1, 2]]),
    (Window, "width", [0]),
    (XPos, "gamma", [0.0]),
]
REFUSED_TOGETHER: list[tuple[type[Scheme], dict, dict, str]] = [
    (Abacus, {}, {"offset": -1}, "offset"),
    (DeBERTa, {}, {"terms": "c2p", "p2c_index": "paper"}, "p2c_index"),
    (DeBERTa, {}, {"span": 32, "p2c_index": "paper"}, "span"),
    (InverseLeaky, {}, {"inner": INNER, "window": 0}, "window"),
    (InverseLeaky, {}, {"inner": INNER, "window": 33}, "window"),
    (InverseLeaky, {}, {"inner": INNER, "factor": 0.5}, "factor"),
    (PartialRoPE, {}, {"fraction": 0.5, "layout": [0, 1, 2, 3, 4, 5, 6, 7]}, "layout"),
    (PaTH, {}, {"rank": 0}, "rank"),
    (PaTH, {}, {"taps": 0}, "taps"),
    (SelectiveRoPE, {}, {"rank": 0}, "rank"),
    (SelectiveRoPE, {}, {"taps": 0}, "taps"),
    (StepHeat, {}, {"share": 0.0}, "share"),
    (T5, {}, {"max_distance": 16}, "buckets"),
    (TUPE, {}, {"rows": 64, "past": "sinusoidal"}, "rows"),
    (XPos, {}, {"scale_base": -1.0}, "scale_base"),
    (CosA, {"length": 2}, {}, "lam"),
    (LogN, {"length": 1}, {}, ""),
    (RoPE, {"length": 6}, {"base": None}, "base"),
    (TUPE, ODD, {"past": "sinusoidal"}, "past"),
    (FoPE, {"length": 6}, {}, ""),
    (PolarAttention, {"length": 1}, {}, ""),
    (ReachWindow, {"layers": 1}, {}, ""),
    (SSMax, {"length": 1}, {}, ""),
    *(
        (cls, ODD, {}, "")
        for cls in (
            *(ComplexOrder, FoPE, GAPE, LinearRoPE, MultiplicativeSinusoidal, RoPE, SelectiveRoPE),
            *(Sinusoidal, TransformerXL, VORoPE, XPos),
        )
    ),
]


def refused(cls: type[Scheme], shape: dict, options: dict, option: str) -> None:
    target = {"_target_": f"{cls.__module__}.{cls.__name__}"}
    with pytest.raises(UserError) as error:
        build(target | options, "scheme", shape=replace(SHAPE, **shape))
    assert error.value.option == (f"scheme.{option}" if option else "scheme")


@pytest.mark.parametrize("cls, option, values", REFUSED)
def test_a_value_out_of_bounds_is_refused_by_name(cls, option, values):
    for value in values:
        refused(cls, {}, {option: value}, option)


@pytest.mark.parametrize("cls, shape, options, option", REFUSED_TOGETHER)
def test_values_that_do_not_suit_each_other_or_the_shape(cls, shape, options, option):
    refused(cls, shape, options, option)


@pytest.mark.parametrize(
    "cls, length, defaults",
    [
        (CoPE, 32, {"pmax": 16}),
        (CoPE, 512, {"pmax": 64}),
        (DeBERTa, 32, {"span": 16}),
        (DeBERTa, 4096, {"span": 512}),
        (FIRE, 32, {"threshold": 8}),
        (MultiAxisRoPE, 64, {"width": 8}),
        (RandomisedPositions, 64, {"maximum": 2048, "longest": 1024}),
        (RelativeProjection, 32, {"extent": 16}),
        (ShareWindow, 32, {"width": 8}),
        (Shaw, 32, {"clip": 8}),
        (Shaw, 512, {"clip": 16}),
    ],
)
def test_defaults_follow_the_training_length(cls, length, defaults):
    scheme = cls(Shape(dim=16, heads=2, length=length))
    assert {name: getattr(scheme, name) for name in defaults} == defaults


@pytest.mark.parametrize("cls", [Learned, TUPE])
def test_warns_of_rows_that_training_never_reaches(cls):
    with pytest.warns(UserWarning, match="rows=33"):
        assert cls(SHAPE, rows=33).limit == 33
