"""Options of all schemes: what is out of bounds is refused by its name, and defaults follow the
training length.
"""

from dataclasses import replace

import pytest

from extrap.model.scheme import Scheme, Shape
from extrap.model.stack import Stack
from extrap.runs.build import build
from extrap.schemes.alibi import ALiBi
from extrap.schemes.learned import Learned
from extrap.schemes.rope import RoPE
from extrap.schemes.tupe import TUPE
from extrap.utils.errors import UserError

SHAPE = Shape(dim=16, heads=2, layers=2, length=32)
INNER = {"_target_": "extrap.schemes.rope.RoPE"}
NOT_RELATIVE = [RoPE(SHAPE), Stack(SHAPE, [ALiBi(SHAPE), RoPE(SHAPE)]), Scheme(SHAPE)]
ODD = {"dim": 15, "heads": 1}
REFUSED: list[tuple[str, str, list]] = [
    ("abacus.Abacus", "ids", [0]),
    ("alibi.ALiBi", "slopes", [[0.5], [0.5, 0.0], [0.5, -1.0]]),
    ("chunked.Chunks", "share", [0.0, 1.5]),
    ("complex_order.ComplexOrder", "base", [1.0]),
    ("concatenated.ConcatenatedProjected", "width", [0, 3]),
    ("concatenated.ConcatenatedProjected", "base", [0.5]),
    ("concatenated.ConcatenatedSplit", "width", [0, 3, 16]),
    ("cope.CoPE", "pmax", [1, 33]),
    ("keynorm.CosA", "lam", [0.0, -1.0]),
    ("linear_rope.CosineLinearRoPE", "base", [1.0]),
    ("deberta.DeBERTa", "span", [1, 33]),
    ("digits.Digits", "base", [-2, 0, 1]),
    ("entmax.ASEntmax", "delta", [-1.0]),
    ("evq_cosh.EVQCosh", "base", [1.0]),
    ("evq_cosh.EVQCosh", "ends", ["both"]),
    ("evq_cosh.EVQCosh", "tau", [-1.0, 21.0]),
    ("fire.FIRE", "threshold", [0, 32]),
    ("fire.FIRE", "hidden", [0]),
    ("floater.Floater", "delta", [0.0]),
    ("floater.FloaterQKV", "steps", [0]),
    ("fope.FoPE", "base", [1.0]),
    ("fope.FoPE", "noise", [-0.1]),
    ("gape.GAPE", "base", [1.0]),
    ("delta_rule.GatedDeltaRule", "taps", [0]),
    ("hope.HoPE", "turns", [-1.0]),
    ("key_offset.KeyOffset", "share", [-0.1, 1.1]),
    ("moebius.Ladder", "steps", ["half"]),
    ("learned.Learned", "rows", [31]),
    ("linear_rope.LinearRoPE", "base", [1.0]),
    ("log_n.LogN", "floor", [-0.1]),
    ("multi_axis_rope.MultiAxisRoPE", "axes", [0, 3]),
    ("multi_axis_rope.MultiAxisRoPE", "width", [1]),
    ("multiplicative.MultiplicativeLearned", "rows", [31]),
    ("multiplicative.MultiplicativeSinusoidal", "amplitude", [0.0]),
    ("multiplicative.MultiplicativeSinusoidal", "base", [1.0]),
    ("partial_rope.PartialRoPE", "fraction", [0.0, 0.1, 0.3, 0.375, 1.25]),
    ("p_rope.PRoPE", "fraction", [-0.1, 1.1]),
    ("delta_rule.PassedState", "texts", [0]),
    ("pope.PoPE", "base", [1.0]),
    ("random_floats.RandomFloats", "maximum", [0.0, -1.0]),
    ("randomised.RandomisedPositions", "maximum", [31]),
    ("randomised.RandomisedPositions", "longest", [31, 2000]),
    ("raw_index.RawIndex", "step", [0.0]),
    ("window.ReachWindow", "alpha", [0.8, 0.0, 0.01]),
    ("relative_projection.RelativeProjection", "extent", [1, 33]),
    ("relative_projection.RelativeProjection", "curves", [0]),
    ("rope.RoPE", "base", [1.0]),
    ("rope.RoPE", "layout", [[0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6, 6]]),
    ("rope_id.RoPEID", "fraction", [0.1]),
    ("rope_id.RoPEID", "turns", [0.0, 16.0]),
    ("sandwich.Sandwich", "width", [0, 7, -2]),
    ("selective_rope.SelectiveRoPE", "base", [1.0]),
    ("window.ShareWindow", "share", [0.0, 1.5]),
    ("shaw.Shaw", "clip", [0, 32]),
    ("sinusoidal.Sinusoidal", "base", [1.0]),
    ("sinusoidal.Sinusoidal", "emb_scale", [0.0]),
    ("chunked.StepHeat", "slope", [-1.0]),
    ("t5.T5", "buckets", [0, 7, 64]),
    ("transformer_xl.TransformerXL", "clamp", [0]),
    ("tupe.TUPE", "rows", [31]),
    ("tupe.TUPE", "relative", NOT_RELATIVE),
    ("urpe.URPE", "span", [1, 33]),
    ("vo_rope.VORoPE", "base", [0.5]),
    ("wave_prune.WavePrune", "base", [1.0]),
    ("wave_prune.WavePrune", "periods", [0.0]),
    ("vo_rope.VORoPE", "layout", [[1, 2]]),
    ("window.Window", "width", [0]),
    ("xpos.XPos", "gamma", [0.0]),
]
PAIRED = (
    *("complex_order.ComplexOrder", "fope.FoPE", "gape.GAPE"),
    *("linear_rope.LinearRoPE", "multiplicative.MultiplicativeSinusoidal", "rope.RoPE"),
    *("selective_rope.SelectiveRoPE", "sinusoidal.Sinusoidal", "transformer_xl.TransformerXL"),
    *("vo_rope.VORoPE", "xpos.XPos"),
)
"""Schemes of pairs of channels: an odd width has none."""
TOGETHER: list[tuple[str, dict, dict, str]] = [
    *((name, {}, {option: value}, option) for name, option, of in REFUSED for value in of),
    ("abacus.Abacus", {}, {"offset": -1}, "offset"),
    ("deberta.DeBERTa", {}, {"terms": "c2p", "p2c_index": "paper"}, "p2c_index"),
    ("deberta.DeBERTa", {}, {"span": 32, "p2c_index": "paper"}, "span"),
    ("inverse_leaky.InverseLeaky", {}, {"inner": INNER, "window": 0}, "window"),
    ("inverse_leaky.InverseLeaky", {}, {"inner": INNER, "window": 33}, "window"),
    ("inverse_leaky.InverseLeaky", {}, {"inner": INNER, "factor": 0.5}, "factor"),
    (
        "partial_rope.PartialRoPE",
        {},
        {"fraction": 0.5, "layout": [*range(8)]},
        "layout",
    ),
    ("path.PaTH", {}, {"rank": 0}, "rank"),
    ("path.PaTH", {}, {"taps": 0}, "taps"),
    ("selective_rope.SelectiveRoPE", {}, {"rank": 0}, "rank"),
    ("selective_rope.SelectiveRoPE", {}, {"taps": 0}, "taps"),
    ("chunked.StepHeat", {}, {"share": 0.0}, "share"),
    ("t5.T5", {}, {"max_distance": 16}, "buckets"),
    ("tupe.TUPE", {}, {"rows": 64, "past": "sinusoidal"}, "rows"),
    ("xpos.XPos", {}, {"scale_base": -1.0}, "scale_base"),
    ("keynorm.CosA", {"length": 2}, {}, "lam"),
    ("log_n.LogN", {"length": 1}, {}, ""),
    ("rope.RoPE", {"length": 6}, {"base": None}, "base"),
    ("tupe.TUPE", ODD, {"past": "sinusoidal"}, "past"),
    ("fope.FoPE", {"length": 6}, {}, ""),
    ("tupe.TUPE", {"heads": 3}, {}, ""),
    ("window.ReachWindow", {"layers": 1}, {}, ""),
    ("ssmax.SSMax", {"length": 1}, {}, ""),
    *((name, ODD, {}, "") for name in PAIRED),
]


def built(name: str, options: dict, **shape: int) -> Scheme:
    given = {"_target_": f"extrap.schemes.{name}"} | options
    return build(given, "scheme", shape=replace(SHAPE, **shape))


@pytest.mark.parametrize("name, shape, options, option", TOGETHER)
def test_a_value_out_of_bounds_is_refused_by_name(name, shape, options, option):
    with pytest.raises(UserError) as error:
        built(name, options, **shape)
    assert error.value.option == (f"scheme.{option}" if option else "scheme")


@pytest.mark.parametrize(
    "name, length, defaults",
    [
        ("cope.CoPE", 32, {"pmax": 16}),
        ("cope.CoPE", 512, {"pmax": 64}),
        ("deberta.DeBERTa", 32, {"span": 16}),
        ("deberta.DeBERTa", 4096, {"span": 512}),
        ("fire.FIRE", 32, {"threshold": 8}),
        ("multi_axis_rope.MultiAxisRoPE", 64, {"width": 8}),
        ("randomised.RandomisedPositions", 64, {"maximum": 2048, "longest": 1024}),
        ("relative_projection.RelativeProjection", 32, {"extent": 16}),
        ("window.ShareWindow", 32, {"width": 8}),
        ("shaw.Shaw", 32, {"clip": 8}),
        ("shaw.Shaw", 512, {"clip": 16}),
    ],
)
def test_defaults_follow_the_training_length(name, length, defaults):
    scheme = built(name, {}, length=length)
    assert {option: getattr(scheme, option) for option in defaults} == defaults


@pytest.mark.parametrize("cls", [Learned, TUPE])
def test_warns_of_rows_that_training_never_reaches(cls):
    with pytest.warns(UserWarning, match="rows=33"):
        assert cls(SHAPE, rows=33).limit == 33
