"""p-RoPE against the "proportional" type of transformers."""

import pytest

from extrap.model.scheme import Shape
from extrap.schemes.p_rope import PRoPE
from tests.support.scheme_case import close


def scheme(D: int = 8, fraction: float = 0.5, layout="half") -> PRoPE:
    return PRoPE(Shape(dim=2 * D, heads=2), fraction=fraction, layout=layout)


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
