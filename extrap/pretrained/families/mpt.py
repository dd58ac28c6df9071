"""MPT: ALiBi with slopes in an order of its own, layer norms without biases, a tied head."""

from typing import Any

from torch import Tensor

from extrap.model.scheme import Scheme, Shape
from extrap.pretrained.names import Names
from extrap.schemes.alibi import ALiBi

MODEL_TYPES = ("mpt",)
NAMES = Names(
    prefix="transformer.",
    block="blocks.{}",
    linears={
        "qkv": "attn.Wqkv",
        "out": "attn.out_proj",
        "up": "ffn.up_proj",
        "down": "ffn.down_proj",
    },
    norms={"norm1": "norm_1", "norm2": "norm_2"},
    outside={"embedding": "wte", "norm": "norm_f"},
    head="lm_head",
    biased=False,
)


def slopes(heads: int, steepest: float) -> list[float]:
    """2**(-n steepest / P), n = 1 .. P, P the next power of two; for fewer heads the second,
    fourth, ... first, then the others.
    """
    power = 1 << (heads - 1).bit_length()
    every = [2 ** (-n * steepest / power) for n in range(1, power + 1)]
    return every if power == heads else (every[1::2] + every[::2])[:heads]


def options(config: Any) -> dict[str, Any]:
    return {
        "dim": config.d_model,
        "layers": config.n_layers,
        "heads": config.n_heads,
        "eps": config.layer_norm_epsilon,
        "mlp": "gelu",
        "ratio": float(config.expansion_ratio),
        "bias": "none",
    }


def scheme(shape: Shape, config: Any) -> Scheme:
    return ALiBi(shape, slopes(shape.heads, config.attn_config.alibi_bias_max))


def weights(state: dict[str, Tensor], config: Any) -> dict[str, Tensor]:
    return NAMES.read(state, config)
