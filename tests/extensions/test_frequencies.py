"""Methods that change frequencies against their formulas, transformers and the score in phases."""

import pytest
import torch

from extrap.extensions.by_parts import NTKByParts, YaRN
from extrap.extensions.dynamic_ntk import DynamicNTK
from extrap.extensions.interpolation import Interpolation
from extrap.extensions.longrope import LongRoPE
from extrap.extensions.ntk import NTK, NTKFixed, NTKMixed, NTKOld
from extrap.extensions.pi_pair import PairInterpolation
from extrap.model.scheme import Shape
from extrap.model.spectrum import frequencies_used
from extrap.schemes.multi_axis_rope import MultiAxisRoPE
from extrap.schemes.p_rope import PRoPE
from extrap.schemes.partial_rope import PartialRoPE
from tests.support.discover import node, scheme
from tests.support.extension_case import rope, row, theta
from tests.support.scheme_case import at, close, qkv

PUBLISHED = [
    (NTK(4.0), (1, 0.062996052, 0.003968503, 0.00025)),
    (NTKOld(4.0), (1, 0.070710678, 0.005, 0.000353553)),
    (NTKFixed(4.0), (0.707106781, 0.05, 0.003535534, 0.00025)),
    (NTKMixed(4.0), (0.558296565, 0.040701686, 0.003140634, 0.00025)),
    (NTKMixed(4.0, b=0.75), (0.612547327, 0.043854381, 0.003271774, 0.00025)),
]


@pytest.mark.parametrize("extension, expected", PUBLISHED)
def test_published_frequencies(extension, expected):
    """d = 8, base 10000, L = 64, s = 4; nine decimals are printed."""
    torch.testing.assert_close(theta(extension, rope()), row(*expected), atol=1e-9, rtol=0)


@pytest.mark.parametrize("turns", [(1e-320, None), (1.0, 1e308)])
def test_a_ramp_between_absurd_turns_is_finite(turns):
    assert theta(YaRN(8.0, beta_slow=turns[0], beta_fast=turns[1]), rope()).isfinite().all()


def transformers_says(
    kind: str, d: int, base: float, length: int, n: int, **more
) -> tuple[torch.Tensor, float]:
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    parameters = {
        "rope_type": kind,
        "rope_theta": base,
        "original_max_position_embeddings": length,
    } | more
    config = LlamaConfig(
        hidden_size=d,
        num_attention_heads=1,
        head_dim=d,
        max_position_embeddings=length,
        rope_parameters=parameters,
    )
    return ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=n)


@pytest.mark.parametrize("s", [1.0, 2.0, 8.0])
@pytest.mark.parametrize(
    "d, base, length",
    [(8, 10000.0, 64), (16, 500.0, 128), (64, 10000.0, 2048), (128, 500000.0, 8192)],
)
def test_equals_transformers(d, base, length, s):
    """Frequencies, and temperatures: theirs stands on queries and on keys, so ours is
    its square.
    """
    long, short = [1 + 0.3 * p for p in range(d // 2)], [1 + 0.01 * p for p in range(d // 2)]
    factors = {"factor": s, "long_factor": long, "short_factor": short}
    for kind, extension, n, options in (
        ("linear", Interpolation(s), 3 * length, {"factor": s}),
        ("dynamic", DynamicNTK(s), 3 * length, {"factor": s}),
        ("dynamic", DynamicNTK(s), length // 2, {"factor": s}),
        ("yarn", YaRN(s, beta_fast=32.0), 3 * length, {"factor": s}),
        (
            "yarn",
            YaRN(s, beta_slow=2.0, beta_fast=4.0),
            3 * length,
            {"factor": s, "beta_slow": 2.0, "beta_fast": 4.0},
        ),
        (
            "llama3",
            NTKByParts(s, beta_fast=4.0),
            3 * length,
            {"factor": s, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
        ),
        ("longrope", LongRoPE(s, long, short), 3 * length, factors),
        ("longrope", LongRoPE(s, long, short), length, factors),
    ):
        expected, factor = transformers_says(kind, d, base, length, n, **options)
        ours = extension.extend(rope(d, length, base))
        torch.testing.assert_close(
            frequencies_used(ours, n),
            expected.double(),
            atol=1e-9,
            rtol=2e-5,
            msg=lambda m, kind=kind: kind + m,
        )
        if kind == "longrope" and n == length:
            continue  # theirs heats short texts as well
        c = ours.temperature(at(ours, n))
        assert (1.0 if c is None else float(c)) == pytest.approx(factor**2, rel=1e-6), kind


def test_reductions():
    """Mixed with b = 1 is fixed, with b = 0 interpolation; the last pair of bloc97 is interpolated;
    interpolation treats each pair as all; llama3 goes by parts.
    """
    close(theta(NTKMixed(8.0, b=1.0), rope()), theta(NTKFixed(8.0), rope()), 1e-12)
    close(theta(NTKMixed(8.0, b=0.0), rope()), theta(Interpolation(8.0), rope()), 1e-12)
    close(theta(NTK(8.0), rope(64))[-1], rope(64).spectrum(1)[-1] / 8, 1e-12)
    close(theta(PairInterpolation(8.0, None), rope()), theta(Interpolation(8.0), rope()), 1e-12)
    for pair in range(4):
        slowed = rope().spectrum(1) / (1 + 3 * (torch.arange(4) == pair))
        close(theta(PairInterpolation(4.0, pair), rope()), slowed, 1e-12)
    assert node("extension", "llama3") == node("extension", "ntk-by-parts") | {"beta_fast": 4.0}


@pytest.mark.parametrize(
    "extension",
    [
        NTK(4.0),
        NTKOld(4.0),
        NTKFixed(4.0),
        NTKMixed(4.0),
        NTKByParts(4.0),
        YaRN(4.0),
        LongRoPE(4.0),
        PairInterpolation(4.0, 1),
    ],
)
def test_pairs_count_in_their_own_grid(extension):
    """Partial rotary as a RoPE of its width, each axis as one of its share, a cut spectrum as the
    part of RoPE it is.
    """
    shape, four = Shape(dim=8, heads=1, length=64), theta(extension, rope(4))
    close(theta(extension, PartialRoPE(shape)), four, 1e-12)
    close(theta(extension, MultiAxisRoPE(shape)), torch.cat([four, four]), 1e-12)
    cut = theta(extension, PRoPE(shape, fraction=0.5))
    close(
        cut, torch.cat([theta(extension, rope(8))[:2], torch.zeros(2, dtype=torch.float64)]), 1e-12
    )


def test_no_part_of_a_stack_is_missed():
    """Values turn with queries and keys; layers without positions stay without; xPos keeps its
    fading.
    """
    shape = Shape(dim=16, heads=2, layers=3, length=64)
    slow = theta(NTK(4.0), rope(8))
    close(theta(NTK(4.0), scheme("vo-rope", shape)), torch.cat([slow, slow]), 1e-12)
    hwfa = NTK(4.0).extend(scheme("hwfa", shape))
    q, k, _ = qkv(shape, 80)
    for layer, same in ((0, False), (2, True)):
        a, b = (s.rotate(q, k, at(s, 80, layer))[0] for s in (hwfa, scheme("hwfa", shape)))
        assert torch.equal(a, b) == same
    faded = NTK(4.0).extend(scheme("xpos", shape))
    assert torch.equal(faded.fading(), scheme("xpos", shape).fading())
    close(faded.spectrum(256), slow, 1e-12)
