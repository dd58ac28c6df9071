"""LeRoPE and its temperature against Mistral Large 4 in transformers."""

from math import log

import pytest
import torch

from extrap.extensions.ntk import NTK
from extrap.model.scheme import Shape
from extrap.model.spectrum import frequencies_used
from extrap.schemes.learned_frequencies import LearnedFrequencies
from extrap.schemes.ssmax import AffineSSMax
from tests.support.scheme_case import at, close, moved

SHAPE = Shape(dim=16, heads=2, layers=2, length=32)


class Config:
    """What the rotary embedding asks of a configuration."""

    max_position_embeddings, head_dim, hidden_size, num_attention_heads = 64, 8, 16, 2
    rope_parameters = {"rope_type": "default", "rope_theta": 10000.0}  # noqa: RUF012


@torch.no_grad()
def test_angles_equal_transformers():
    from transformers.models.mistral_large4.modeling_mistral_large4 import (
        MistralLarge4TextRotaryEmbedding,
    )

    s, T = moved(LearnedFrequencies(SHAPE, layout="half")), 20
    theirs = MistralLarge4TextRotaryEmbedding(Config())
    theirs.alpha.copy_(s.alpha)
    cos, sin = theirs(torch.zeros(1, T, 8), torch.arange(T)[None])
    angle = s.angle(torch.arange(T, dtype=torch.float64), s.spectrum(T))
    close(angle.cos().float(), cos[0, :, :4], 1e-5)
    close(angle.sin().float(), sin[0, :, :4], 1e-5)


@torch.no_grad()
def test_extensions_act_on_learned_frequencies():
    s = moved(LearnedFrequencies(SHAPE))
    slowed = [t * 4 ** (-p / 3) for p, t in enumerate(frequencies_used(s, 9).tolist())]
    assert frequencies_used(NTK(4.0).extend(s), 9).tolist() == pytest.approx(slowed, rel=1e-7)


@torch.no_grad()
def test_the_temperature_is_that_of_transformers():
    from transformers.models.mistral_large4.modeling_mistral_large4 import (
        MistralLarge4TextSoftmaxScaling,
    )

    s, T = moved(AffineSSMax(SHAPE)), 12
    theirs = MistralLarge4TextSoftmaxScaling(2)
    theirs.scale.copy_(s.s[1]), theirs.bias.copy_(s.b[1])
    ones = torch.ones(1, 2, T, 8)
    scaled = theirs(ones, torch.arange(T)[None], head_dim_first=True)
    ours = s.temperature(at(s, T, layer=1))
    close(ours.float().expand(2, T, 8), scaled[0], 1e-5)
    assert float(ours[1, 6, 0]) == pytest.approx(float(s.s[1, 1]) * log(7) + float(s.b[1, 1]))
