"""RoPE of some pairs, of other frequencies, of several axes and of values, against other
implementations and formulas as loops.
"""

from dataclasses import replace
from math import cos, log, pi, sin

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.scheme import Shape
from extrap.model.spectrum import turns
from extrap.model.stack import Stack
from extrap.schemes.fope import FoPE
from extrap.schemes.hope import HoPE
from extrap.schemes.learned_frequencies import LearnedFrequencies
from extrap.schemes.multi_axis_rope import MultiAxisRoPE
from extrap.schemes.p_rope import PRoPE
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.rope import RoPE
from extrap.schemes.rope_id import RoPEID
from extrap.schemes.ssmax import AffineSSMax
from extrap.schemes.vo_rope import VORoPE
from tests.support.explicit_phase import between, logits
from tests.support.scheme_case import at, close, mixed, moved, qkv, scores, weights


def partial(D: int = 8, fraction: float = 0.5, layout="half") -> PartialRoPE:
    return PartialRoPE(Shape(dim=2 * D, heads=2), fraction=fraction, layout=layout)


@pytest.mark.parametrize("D, fraction", [(8, 0.25), (8, 0.5), (64, 0.25), (96, 1.0)])
def test_partial_rope_equals_gpt_neox(D, fraction):
    from transformers.models.gpt_neox import modeling_gpt_neox as neox

    parameters = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": fraction}
    config = neox.GPTNeoXConfig(
        hidden_size=2 * D, num_attention_heads=2, rope_parameters=parameters
    )
    s = partial(D, fraction)
    q, k, _ = qkv(s.shape, 30, dtype=torch.float32)
    cos, sin = neox.GPTNeoXRotaryEmbedding(config)(q, torch.arange(30)[None])
    for ours, theirs in zip(
        s.rotate(q, k, at(s, 30)), neox.apply_rotary_pos_emb(q, k, cos, sin), strict=True
    ):
        close(ours, theirs, 1e-5)


def test_partial_rope_is_a_small_rope_plus_content():
    s, t = partial(8, 0.5, [1, 3, 0, 2]), torch.tensor([0, 1.5, 7, 1e4], dtype=torch.float64)
    q, k, _ = qkv(s.shape, 4)
    order = [1, 3, 0, 2]
    small = logits(q[..., order], k[..., order], between(t), s.spectrum(4))
    content = q[..., 4:] @ k[..., 4:].transpose(-1, -2)
    close(scores(s, q, k, at(s, t)), (small + content) * s.scale, 1e-10)


def p_rope(D: int = 8, fraction: float = 0.5, layout="half") -> PRoPE:
    return PRoPE(Shape(dim=2 * D, heads=2), fraction=fraction, layout=layout)


@pytest.mark.parametrize("D", [2, 8, 64, 80])
@pytest.mark.parametrize("fraction", [0.25, 0.3, 0.5, 0.75, 1.0])
def test_p_rope_spectrum_equals_transformers(D, fraction):
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    parameters = {
        "rope_type": "proportional",
        "rope_theta": 10000.0,
        "partial_rotary_factor": fraction,
    }
    config = LlamaConfig(
        hidden_size=2 * D, num_attention_heads=2, head_dim=D, rope_parameters=parameters
    )
    theirs, _ = ROPE_INIT_FUNCTIONS["proportional"](config)
    close(p_rope(D, fraction).spectrum(10).float(), theirs, 1e-6)


HUNDRED = Shape(dim=32, heads=2, layers=1, length=100)


def test_rope_id_turns_its_first_pair_by_one_and_its_last_r_times_within_l():
    for r in (1.0, 3.0):
        theta = RoPEID(HUNDRED, turns=r).spectrum(7)
        assert len(theta) == 4
        expected = [(2 * pi * r / 100) ** (p / 3) for p in range(4)]
        assert theta.tolist() == pytest.approx(expected)
    assert turns(RoPEID(HUNDRED), 100).min() == pytest.approx(1)


@pytest.mark.parametrize(
    "D, length, turns, kept",
    [
        *((64, 2048, 1.0, 21), (64, 256, 1.0, 13), (32, 128, 1.0, 6)),
        *((32, 128, 0.0, 16), (32, 128, 3.0, 4), (32, 128, 1e9, 0)),
    ],
)
def test_hope_turns_as_many_pairs_as_published(D, length, turns, kept):
    """That of the paper at one turn; it follows the training length, not the text."""
    scheme = HoPE(Shape(dim=2 * D, heads=2, length=length), turns=turns)
    rope = RoPE(Shape(2 * D, 2)).spectrum(length)
    for T in (1, length, 10**6):
        theta = scheme.spectrum(T)
        assert torch.equal(theta[:kept], rope[:kept]) and not theta[kept:].any()


EIGHT = Shape(dim=32, heads=2, length=64)  # 8 pairs, 1 to 10**-3.5; 2 pi / 64 is .098
THOUSAND = Shape(dim=32, heads=2, length=1000)
LONG = Shape(dim=32, heads=2, length=10**5)


@pytest.mark.parametrize("shape, W, P", [(EIGHT, 3, 3), (THOUSAND, 5, 4), (LONG, 8, 4)])
def test_fope(shape, W, P):
    s, T = FoPE(shape), 5
    assert s.A.shape == s.B.shape == (shape.layers, 2, W, P)
    q, k, _ = qkv(shape, T)
    last = shape.layers - 1
    A, B = s.A[last], s.B[last]
    turned = s.rotate(q, k, at(s, T, layer=last))
    for x, y in zip((q, k), turned, strict=True):
        for h in range(2):
            for t in range(T):
                for p in range(8):
                    a, b = (float(z) for z in x[0, h, t, 2 * p : 2 * p + 2])
                    c, d = 1.0, 0.0
                    if p < P:
                        theta = [10000 ** (-n / 8) for n in range(W)]
                        c = sum(float(A[h, n, p]) * cos(t * theta[n]) for n in range(W))
                        d = sum(float(B[h, n, p]) * sin(t * theta[n]) for n in range(W))
                    expected = complex(a, b) * complex(c, d)
                    assert y[0, h, t, 2 * p] == pytest.approx(expected.real, abs=1e-12)
                    assert y[0, h, t, 2 * p + 1] == pytest.approx(expected.imag, abs=1e-12)


MANY = Shape(dim=64 * 32, heads=64, length=64)


@pytest.mark.parametrize("shape", [MANY, THOUSAND, replace(MANY, kv_heads=4, length=10**4)])
def test_noise_of_fope_is_that_of_xavier_over_all_heads(shape):
    """A and B of the authors' code are (heads, W, P) tensors: the fan of Xavier counts P in both
    directions, times W and times the heads.
    """
    torch.manual_seed(0)
    made = [(FoPE(shape, noise=0.3), FoPE(shape, noise=0.0)) for _ in range(20)]
    drawn = [getattr(s, n) - getattr(plain, n) for s, plain in made for n in "AB"]
    _, G, W, P = drawn[0].shape
    variance = float(torch.stack(drawn).square().mean())
    assert variance == pytest.approx(2 * 0.3**2 / (P * (W + G)), rel=0.12)


TWO = Shape(dim=16, heads=2)


def vo_rope(shape: Shape, **options) -> Stack:
    return Stack(shape, [RoPE(shape, **options), VORoPE(shape, **options)])


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_vo_rope(layout):
    """o_i = sum_j A_ij R_{j - i} v_j, one rotation per pair of tokens."""
    s, T = vo_rope(TWO, layout=layout), 7
    q, k, v = qkv(TWO, T)
    rope, t = RoPE(TWO, layout=layout), torch.zeros(1, dtype=torch.float64)

    def turned(h, i, j):
        return rope.rotate(v[:, :, j : j + 1], v, at(rope, t + j - i))[0][1, h, 0]

    a = weights(s.parts[0], q, k, at(s, T))[1]
    close(s.attend(q, k, v, at(s, T))[1], mixed(a, turned), 1e-12)


LAYERS = Shape(dim=16, heads=2, layers=2, length=32)


class Config:
    """What the rotary embedding asks of a configuration."""

    max_position_embeddings, head_dim, hidden_size, num_attention_heads = 64, 8, 16, 2
    rope_parameters = {"rope_type": "default", "rope_theta": 10000.0}  # noqa: RUF012


@torch.no_grad()
def test_lerope_angles_equal_transformers():
    from transformers.models.mistral_large4.modeling_mistral_large4 import (
        MistralLarge4TextRotaryEmbedding,
    )

    s, T = moved(LearnedFrequencies(LAYERS, layout="half")), 20
    theirs = MistralLarge4TextRotaryEmbedding(Config())
    theirs.alpha.copy_(s.alpha)
    cos, sin = theirs(torch.zeros(1, T, 8), torch.arange(T)[None])
    angle = s.angle(torch.arange(T, dtype=torch.float64), s.spectrum(T))
    close(angle.cos().float(), cos[0, :, :4], 1e-5)
    close(angle.sin().float(), sin[0, :, :4], 1e-5)


@torch.no_grad()
def test_the_temperature_of_lerope_is_that_of_transformers():
    from transformers.models.mistral_large4.modeling_mistral_large4 import (
        MistralLarge4TextSoftmaxScaling,
    )

    s, T = moved(AffineSSMax(LAYERS)), 12
    theirs = MistralLarge4TextSoftmaxScaling(2)
    theirs.scale.copy_(s.s[1]), theirs.bias.copy_(s.b[1])
    ones = torch.ones(1, 2, T, 8)
    scaled = theirs(ones, torch.arange(T)[None], head_dim_first=True)
    ours = s.temperature(at(s, T, layer=1))
    close(ours.float().expand(2, T, 8), scaled[0], 1e-5)
    assert float(ours[1, 6, 0]) == pytest.approx(float(s.s[1, 1]) * log(7) + float(s.b[1, 1]))


def multi_axis(D: int = 8, axes: int = 2, width: int | None = 5, **more) -> MultiAxisRoPE:
    return MultiAxisRoPE(Shape(dim=2 * D, heads=2), axes=axes, width=width, **more)


@pytest.mark.parametrize("D, sizes", [(8, (4, 5)), (32, (7, 6)), (24, (2, 4, 4))])
def test_multi_axis_rope_equals_axial_frequencies(D, sizes):
    """Tokens read line by line fill the grid."""
    from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

    s = multi_axis(D, len(sizes), sizes[-1])
    T = torch.Size(sizes).numel()
    q, k, _ = qkv(s.shape, T, dtype=torch.float32)
    freqs = (
        RotaryEmbedding(D // len(sizes), freqs_for="lang")
        .get_axial_freqs(*sizes)
        .flatten(0, -2)
        .detach()
    )
    for ours, x in zip(s.rotate(q, k, at(s, T)), (q, k), strict=True):
        close(ours, apply_rotary_emb(freqs, x), 1e-5)


@given(
    t=st.lists(st.floats(0, 1e4), min_size=2, max_size=5),
    width=st.integers(2, 50),
    layout=st.sampled_from(["interleaved", "half"]),
)
@settings(max_examples=15, deadline=None)
def test_multi_axis_rope_knows_differences_of_coordinates_alone(t, width, layout):
    s, t = multi_axis(8, 2, width, layout=layout), torch.tensor(sorted(t), dtype=torch.float64)
    q, k, _ = qkv(s.shape, len(t))
    line, column = s.coordinates(t)
    close(line * width + column, t, 1e-9)
    assert torch.equal(line, line.round())
    distance = torch.stack([line[:, None] - line] * 2 + [column[:, None] - column] * 2, -1)
    order = torch.arange(8) if layout == "interleaved" else torch.arange(8).view(2, 4).T.flatten()
    expected = logits(q[..., order], k[..., order], distance, s.spectrum(len(t))) * s.scale
    close(scores(s, q, k, at(s, t)), expected, 1e-9)


def test_every_layer_of_fope_has_a_noise_of_its_own():
    """Each block of the authors' model makes its own embedding."""
    s = FoPE(replace(EIGHT, layers=2))
    assert not torch.equal(s.A[0], s.A[1])
