"""p-RoPE against published numbers, the "proportional" type of transformers, and its two ends."""

import pytest
import torch

from extrap.model.scheme import Scheme, Shape
from extrap.schemes.p_rope import PRoPE
from extrap.schemes.rope import RoPE
from tests.support.scheme_case import at, close, qkv, weights


def scheme(D: int = 8, fraction: float = 0.5, layout="half") -> PRoPE:
    return PRoPE(Shape(dim=2 * D, heads=2), fraction=fraction, layout=layout)


def test_published_rotation():
    s, x = scheme(), torch.arange(1, 9, dtype=torch.float64).expand(1, 1, 2, 8)
    close(s.spectrum(2), torch.tensor([1, 0.1, 0, 0], dtype=torch.float64))
    y = torch.tensor(
        [-3.667052618, 1.391007831, 3, 4, 3.542982514, 6.169691825, 7, 8], dtype=torch.float64
    )
    close(s.rotate(x, x, at(s, 2))[0][0, 0, 1], y, 1e-9)


@pytest.mark.parametrize("D", [2, 8, 64, 80])
@pytest.mark.parametrize("fraction", [0.25, 0.3, 0.5, 0.75, 1.0])
def test_spectrum_equals_transformers(D, fraction):
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
    close(scheme(D, fraction).spectrum(10).float(), theirs, 1e-6)


def test_from_nothing_to_rope():
    q, k, _ = qkv(Shape(16, 2), 9)
    for fraction, other in ((0.0, Scheme(Shape(16, 2))), (1.0, RoPE(Shape(16, 2), layout="half"))):
        s = scheme(8, fraction)
        close(weights(s, q, k, at(s, 9)), weights(other, q, k, at(other, 9)))


@pytest.mark.parametrize("fraction", [-0.1, 1.1])
def test_refusals(fraction):
    with pytest.raises(ValueError, match=f"fraction={fraction}"):
        scheme(8, fraction)
