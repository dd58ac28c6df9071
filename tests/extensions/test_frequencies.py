"""Methods that change frequencies: published numbers, transformers, the score in phases, and where
they are the identity.
"""

from math import log

import pytest
import torch
from torch import Tensor

from extrap.extensions.base import SchemeExtension
from extrap.extensions.by_parts import NTKByParts, YaRN, kept_by_index
from extrap.extensions.dynamic_ntk import DynamicNTK
from extrap.extensions.frequencies import Heat
from extrap.extensions.interpolation import Interpolation
from extrap.extensions.longrope import LongRoPE
from extrap.extensions.ntk import NTK, NTKFixed, NTKMixed, NTKOld
from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.rotary import pairing
from extrap.model.scheme import Scheme, Shape, Where
from extrap.model.spectrum import frequencies_used, pairs
from extrap.model.stack import Stack
from extrap.schemes.multi_axis_rope import MultiAxisRoPE
from extrap.schemes.p_rope import PRoPE
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.rope import RoPE
from extrap.utils.errors import NotApplicable
from tests.support import fixture_e
from tests.support.discover import node, scheme
from tests.support.explicit_phase import between, logits
from tests.support.extension_case import close, rope, row, theta
from tests.support.scheme_case import at, qkv

PUBLISHED = [
    (Interpolation(4.0), (0.25, 0.025, 0.0025, 0.00025)),
    (NTK(4.0), (1, 0.062996052, 0.003968503, 0.00025)),
    (NTKOld(4.0), (1, 0.070710678, 0.005, 0.000353553)),
    (NTKFixed(4.0), (0.707106781, 0.05, 0.003535534, 0.00025)),
    (NTKMixed(4.0), (0.558296565, 0.040701686, 0.003140634, 0.00025)),
    (NTKMixed(4.0, b=0.75), (0.612547327, 0.043854381, 0.003271774, 0.00025)),
    (NTKByParts(4.0, beta_fast=32.0), (0.472239912, 0.025044980, 0.0025, 0.00025)),
    (NTKByParts(4.0, beta_fast=4.0), (1, 0.025464791, 0.0025, 0.00025)),
    (YaRN(4.0, beta_fast=32.0), (1, 0.0625, 0.0025, 0.00025)),
]


@pytest.mark.parametrize("extension, expected", PUBLISHED)
def test_published_frequencies(extension, expected):
    """d = 8, base 10000, L = 64, s = 4; nine decimals are printed."""
    torch.testing.assert_close(theta(extension, rope()), row(*expected), atol=1e-9, rtol=0)


def test_published_bases():
    """A base can be read off pair 1: theta_1 = base**(-2/d)."""
    for extension, n, base in (
        (NTK(4.0), 256, 63496.042),
        (DynamicNTK(), 128, 25198.421),
        (DynamicNTK(4.0), 128, 85498.797),
        (NTKOld(4.0), 256, 40000.0),
    ):
        assert float(theta(extension, rope(), n)[1]) ** -4 == pytest.approx(base, abs=6e-4)


def test_published_ramp_of_yarn():
    """d = 64, L = 2048: pairs up to 8 are kept, pairs from 21 on interpolated."""
    kept = kept_by_index(pairs(rope(64, 2048)), 1.0, 32.0)
    assert (
        (kept[:9] == 1).all()
        and (kept[21:] == 0).all()
        and ((kept[9:21] > 0) & (kept[9:21] < 1)).all()
    )


def test_short_windows_need_another_fast_end():
    """32 turns asked of a window of 128 slow even pair 0; null does not."""
    assert float(theta(NTKByParts(8.0, beta_fast=32.0), rope(64, 128))[0]) == pytest.approx(
        0.672, abs=5e-4
    )
    assert float(theta(NTKByParts(8.0), rope(64, 128))[0]) == 1.0
    assert torch.equal(
        theta(YaRN(8.0), rope(64, 2048)), theta(YaRN(8.0, beta_fast=32.0), rope(64, 2048))
    )


def test_published_temperatures():
    assert (
        YaRN(4.0).heat(64, 64)
        == pytest.approx(1.138629436**2, abs=4e-9)
        == YaRN(None).heat(256, 64)
    )
    assert YaRN(None).heat(64, 64) == YaRN(1.0).heat(640, 64) == 1.0
    assert LongRoPE(8.0).heat(4096, 2048) == pytest.approx(1.128152150**2, abs=4e-9)


FIXTURE = {
    Interpolation(2.0): (
        ".205040128 .312249239 .334300814 .148409819",
        "-.010540265 -.009689251 -.006465970 -.001659595",
    ),
    NTK(4.0): (
        ".339697334 .158253642 .369045031 .133003993",
        "-.172557948 -.074570842 .041673808 .147715256",
    ),
    NTKOld(4.0): (
        ".339653920 .157981002 .369379069 .132986009",
        "-.173053635 -.075085224 .041266668 .147515041",
    ),
    NTKFixed(4.0): (
        ".205008352 .312699669 .333904059 .148387920",
        "-.009824305 -.009051785 -.006063072 -.001589908",
    ),
    NTKMixed(4.0): (
        ".175831818 .353942362 .321320893 .148904927",
        ".037056081 .014054485 -.012388140 -.035797716",
    ),
}


@pytest.mark.parametrize("extension", FIXTURE)
def test_fixture_e(extension):
    fixture_e.check(extension.extend(RoPE(fixture_e.SHAPE)), *FIXTURE[extension])


def test_fixture_e_temperature_of_yarn():
    s = Stack(
        fixture_e.SHAPE,
        [RoPE(fixture_e.SHAPE), Heat(fixture_e.SHAPE, lambda n: YaRN(4.0).heat(n, 4))],
    )
    a, o = (
        ".359266689 .132617719 .401598494 .106517099",
        "-.213104320 -.118051029 .005905270 .128415754",
    )
    fixture_e.check(s, a, o)


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


EVERY = [extension for extension, _ in PUBLISHED] + [
    DynamicNTK(),
    Interpolation(None),
    YaRN(None, "turns"),
    LongRoPE(4.0),
]


def content(extension: SchemeExtension, scheme: Scheme, q: Tensor, k: Tensor) -> Tensor:
    """(B, H, T, T) heated content logits."""
    s = extension.extend(scheme)
    place = Where.whole(s.positions(torch.arange(q.shape[2], dtype=torch.float64)), s.scale)
    c = s.temperature(place)
    return s.score(*s.rotate(q, k, place), place) * (1 if c is None else c)


@pytest.mark.parametrize("extension", EVERY)
@pytest.mark.parametrize("layout", ["interleaved", "half", [3, 0, 7, 2, 1, 6, 4, 5]])
def test_score_in_phases(extension, layout):
    """The rotation of tokens at theta' is the score in phases of their distances, times the
    temperature.
    """
    T, L, s = 40, 16, rope(8, 16, layout=layout)
    q, k, _ = qkv(s.shape, T)
    order, theta = pairing(layout, 8).flatten(), frequencies_used(extension.extend(rope(8, 16)), T)
    c = 1.0
    if isinstance(extension, YaRN):
        c = (0.1 * log(4.0 if extension.factor else T / L) + 1) ** 2
    if isinstance(extension, LongRoPE):
        c = 1 + log(4.0) / log(L)
    distance = between(torch.arange(T, dtype=torch.float64))
    close(
        content(extension, s, q, k),
        logits(q[..., order], k[..., order], distance, theta) * s.scale * c,
        1e-10,
    )


@pytest.mark.parametrize(
    "extension",
    [
        Interpolation(1.0),
        NTK(1.0),
        NTKOld(1.0),
        NTKFixed(1.0),
        NTKMixed(1.0),
        NTKByParts(1.0),
        YaRN(1.0),
        YaRN(1.0, "turns"),
        LongRoPE(1.0),
    ],
)
def test_factor_one_is_the_plain_scheme(extension):
    q, k, _ = qkv(rope().shape, 100)
    s = rope()
    close(content(extension, rope(), q, k), s.score(*s.rotate(q, k, at(s, 100)), at(s, 100)), 1e-12)


@pytest.mark.parametrize(
    "extension",
    [
        Interpolation(None),
        NTK(None),
        NTKMixed(None),
        NTKByParts(None),
        YaRN(None),
        DynamicNTK(),
        LongRoPE(),
    ],
)
def test_adaptive_factors_leave_short_texts_alone(extension):
    s, extended = rope(), extension.extend(rope())
    for n in (3, 64):
        assert torch.equal(frequencies_used(extended, n), s.spectrum(n))
        c = extended.temperature(at(extended, n))
        assert c is None or float(c) == 1
    assert (frequencies_used(extended, 128) < s.spectrum(128)).any()


def test_reductions():
    """Mixed with b = 1 is fixed, with b = 0 interpolation; the last pair of bloc97 is interpolated;
    llama3 is by parts.
    """
    close(theta(NTKMixed(8.0, b=1.0), rope()), theta(NTKFixed(8.0), rope()), 1e-12)
    close(theta(NTKMixed(8.0, b=0.0), rope()), theta(Interpolation(8.0), rope()), 1e-12)
    close(theta(NTK(8.0), rope(64))[-1], rope(64).spectrum(1)[-1] / 8, 1e-12)
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


def test_temperature_spares_biases():
    shape = Shape(dim=8, heads=1, length=16)
    s = YaRN(4.0).extend(Stack(shape, [RoPE(shape), scheme("alibi", shape)]))
    plain = Stack(shape, [RoPE(shape), scheme("alibi", shape)])
    d = torch.arange(9, dtype=torch.float64)
    assert torch.equal(s.distance_bias(d, 0), plain.distance_bias(d, 0))


@pytest.mark.parametrize(
    "extension, name, why",
    [
        (NTK(4.0), "alibi", "NTK on ALiBi: no channels turn there, so"),
        (
            NTK(4.0),
            "inverse-leaky-rope",
            "no channels turn there by frequencies that can be reached",
        ),
        (NTK(4.0), "selective-rope", "no channels turn there by frequencies that can be reached"),
        (YaRN(4.0), "sinusoidal", "YaRN on Sinusoidal: no channels turn there"),
        (YaRN(4.0), "linear-rope", "YaRN on LinearRoPE: .*owns altogether"),
        (
            LongRoPE(4.0, long=[1.0, 2.0]),
            "rope",
            "LongRoPE on RoPE: long: 2 factors given for 4 pairs",
        ),
        (
            LongRoPE(4.0, short=[1.0] * 5),
            "rope",
            "LongRoPE on RoPE: short: 5 factors given for 4 pairs",
        ),
        (
            NTKByParts(4.0, beta_slow=0.1, beta_fast=0.2),
            "hope",
            "NTKByParts on HoPE: it leaves every frequency",
        ),
        (DynamicNTK(mode="row"), "vo-rope", r"DynamicNTK on RoPE \+ VORoPE: mode=row"),
    ],
)
def test_refusals(extension, name, why):
    with pytest.raises(NotApplicable, match=why):
        extension(GPT(scheme(name, Shape(dim=16, heads=2)), 50, Decoder(16, 1, 2)))


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: NTK(0.5), "factor=0.5"),
        (lambda: Interpolation(0.0), "factor=0.0"),
        (lambda: NTKMixed(b=-1.0), "b=-1.0"),
        (lambda: YaRN(beta_slow=4.0), "beta_slow=4.0"),
        (lambda: NTKByParts(beta_slow=3.0, beta_fast=2.0), "beta_slow=3.0, beta_fast=2.0"),
        (lambda: YaRN(slope=-0.1), "slope=-0.1"),
        (lambda: LongRoPE(long=[1.0, 0.0]), "long="),
    ],
)
def test_bad_options(make, match):
    with pytest.raises(ValueError, match=match):
        make()
