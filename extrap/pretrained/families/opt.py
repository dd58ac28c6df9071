"""OPT: a learned table of positions whose first two rows are never read, layer norms, biases
everywhere, a tied head.
"""

from typing import Any

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Shape
from extrap.pretrained.names import ACTIVATIONS, Names
from extrap.schemes.learned import Learned

MODEL_TYPES = ("opt",)
UNREAD = 2
NAMES = Names(
    prefix="model.decoder.",
    block="layers.{}",
    linears={"qkv": "self_attn.qkv", "out": "self_attn.out_proj", "up": "fc1", "down": "fc2"},
    norms={"norm1": "self_attn_layer_norm", "norm2": "final_layer_norm"},
    outside={"embedding": "embed_tokens", "norm": "final_layer_norm"},
    head="lm_head",
)


def options(config: Any) -> dict[str, Any]:
    return {
        "dim": config.hidden_size,
        "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "mlp": ACTIVATIONS[config.activation_function],
        "ratio": config.ffn_dim / config.hidden_size,
    }


def scheme(shape: Shape, config: Any) -> Scheme:
    return Learned(shape, config.max_position_embeddings)


def weights(state: dict[str, Tensor], config: Any) -> dict[str, Tensor]:
    joined = dict(state)
    for n in range(config.num_hidden_layers):
        stem = f"{NAMES.prefix}layers.{n}.self_attn"
        for part in ("weight", "bias"):
            every = [state[f"{stem}.{x}_proj.{part}"] for x in "qkv"]
            joined[f"{stem}.qkv.{part}"] = torch.cat(every)
    table = state[f"{NAMES.prefix}embed_positions.weight"]
    return NAMES.read(joined, config) | {"scheme.table": table[None, UNREAD:]}
