"""GPT-2: a learned table of positions, layer norms, biases everywhere, most often a tied head.
Matrices lie transposed.
"""

from typing import Any

from torch import Tensor

from extrap.model.scheme import Scheme, Shape
from extrap.pretrained.names import ACTIVATIONS, Names
from extrap.schemes.learned import Learned

MODEL_TYPES = ("gpt2",)
NAMES = Names(
    prefix="transformer.",
    block="h.{}",
    linears={"qkv": "attn.c_attn", "out": "attn.c_proj", "up": "mlp.c_fc", "down": "mlp.c_proj"},
    norms={"norm1": "ln_1", "norm2": "ln_2"},
    outside={"embedding": "wte", "norm": "ln_f"},
    head="lm_head",
    transposed=True,
)
TABLE = "wpe.weight"


def options(config: Any) -> dict[str, Any]:
    return {
        "dim": config.n_embd,
        "layers": config.n_layer,
        "heads": config.n_head,
        "eps": config.layer_norm_epsilon,
        "mlp": ACTIVATIONS[config.activation_function],
        "ratio": (config.n_inner or 4 * config.n_embd) / config.n_embd,
    }


def scheme(shape: Shape, config: Any) -> Scheme:
    return Learned(shape, config.n_positions)


def weights(state: dict[str, Tensor], config: Any) -> dict[str, Tensor]:
    return NAMES.read(state, config) | {"scheme.table": state[NAMES.prefix + TABLE][None]}
