"""Partial rotary against GPT-NeoX and the score in phases."""

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.partial_rope import PartialRoPE
from tests.support.explicit_phase import between, logits
from tests.support.scheme_case import at, close, qkv, scores


def scheme(D: int = 8, fraction: float = 0.5, layout="half") -> PartialRoPE:
    return PartialRoPE(Shape(dim=2 * D, heads=2), fraction=fraction, layout=layout)


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


def test_the_score_is_a_small_rope_plus_content():
    s, t = scheme(8, 0.5, [1, 3, 0, 2]), torch.tensor([0, 1.5, 7, 1e4], dtype=torch.float64)
    q, k, _ = qkv(s.shape, 4)
    order = [1, 3, 0, 2]
    small = logits(q[..., order], k[..., order], between(t), s.spectrum(4))
    content = q[..., 4:] @ k[..., 4:].transpose(-1, -2)
    close(scores(s, q, k, at(s, t)), (small + content) * s.scale, 1e-10)
