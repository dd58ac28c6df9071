"""BLOOM: ALiBi, a norm of the token embedding, layer norms, biases everywhere, most often a tied
head. Queries, keys and values of a head lie side by side.
"""

from typing import Any

from torch import Tensor

from extrap.model.scheme import Scheme, Shape
from extrap.pretrained.names import Names
from extrap.schemes.alibi import ALiBi

MODEL_TYPES = ("bloom",)
NAMES = Names(
    prefix="transformer.",
    block="h.{}",
    linears={
        "qkv": "self_attention.query_key_value",
        "out": "self_attention.dense",
        "up": "mlp.dense_h_to_4h",
        "down": "mlp.dense_4h_to_h",
    },
    norms={"norm1": "input_layernorm", "norm2": "post_attention_layernorm"},
    outside={
        "embedding": "word_embeddings",
        "embedding_norm": "word_embeddings_layernorm",
        "norm": "ln_f",
    },
    head="lm_head",
    by_head=True,
)


def options(config: Any) -> dict[str, Any]:
    return {
        "dim": config.hidden_size,
        "layers": config.n_layer,
        "heads": config.n_head,
        "eps": config.layer_norm_epsilon,
        "mlp": "gelu-tanh",
        "embedding_norm": "layer",
    }


def scheme(shape: Shape, config: Any) -> Scheme:
    return ALiBi(shape)


def weights(state: dict[str, Tensor], config: Any) -> dict[str, Tensor]:
    return NAMES.read(state, config)
