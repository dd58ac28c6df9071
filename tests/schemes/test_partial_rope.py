"""Partial rotary against published numbers, GPT-NeoX and RoPE itself."""

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.rope import RoPE
from tests.support.explicit_phase import between, logits
from tests.support.scheme_case import at, close, qkv, weights


def scheme(D: int = 8, fraction: float = 0.5, layout="half") -> PartialRoPE:
    return PartialRoPE(Shape(dim=2 * D, heads=2), fraction=fraction, layout=layout)


def test_published_rotation():
    s, x = scheme(), torch.arange(1, 9, dtype=torch.float64).expand(1, 1, 2, 8)
    close(s.spectrum(2), torch.tensor([1, 0.01], dtype=torch.float64), 1e-12)
    y = torch.tensor(
        [-1.984110649, 1.959900667, 2.462377902, 4.019799668, 5, 6, 7, 8], dtype=torch.float64
    )
    close(s.rotate(x, x, at(s, 2))[0][0, 0, 1], y, 1e-9)


@pytest.mark.parametrize("D, fraction", [(8, 0.25), (8, 0.5), (64, 0.25), (96, 1.0)])
def test_equals_gpt_neox(D, fraction):
    from transformers.models.gpt_neox import modeling_gpt_neox as neox

    parameters = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": fraction}
    config = neox.GPTNeoXConfig(
        hidden_size=2 * D, num_attention_heads=2, rope_parameters=parameters
    )
    s = scheme(D, fraction)
    q, k, _ = qkv(s.shape, 30, dtype=torch.float32)
    cos, sin = neox.GPTNeoXRotaryEmbedding(config)(q, torch.arange(30)[None])
    for ours, theirs in zip(
        s.rotate(q, k, at(s, 30)), neox.apply_rotary_pos_emb(q, k, cos, sin), strict=True
    ):
        close(ours, theirs, 1e-5)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_all_of_the_channels_is_rope(layout):
    s, rope = scheme(8, 1.0, layout), RoPE(Shape(16, 2), layout=layout)
    q, k, _ = qkv(s.shape, 9)
    close(weights(s, q, k, at(s, 9)), weights(rope, q, k, at(rope, 9)))


def test_the_score_is_a_small_rope_plus_content():
    s, t = scheme(8, 0.5, [1, 3, 0, 2]), torch.tensor([0, 1.5, 7, 1e4], dtype=torch.float64)
    q, k, _ = qkv(s.shape, 4)
    order = [1, 3, 0, 2]
    small = logits(q[..., order], k[..., order], between(t), s.spectrum(4))
    content = q[..., 4:] @ k[..., 4:].transpose(-1, -2)
    close(s.score(*s.rotate(q, k, at(s, t)), at(s, t)), (small + content) * s.scale, 1e-10)


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.375, 1.25])
def test_refusals(fraction):
    with pytest.raises(ValueError, match=f"fraction={fraction}"):
        scheme(8, fraction)


def test_a_layout_pairs_the_turning_channels_only():
    with pytest.raises(ValueError, match="channels 0 to 3"):
        scheme(8, 0.5, [0, 1, 2, 3, 4, 5, 6, 7])
