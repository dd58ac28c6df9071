"""GPT-NeoX of RoPE on all channels of a head or on the first of them, beside layer norms."""

import torch
from torch import Tensor, nn

from extrap.model.gpt import GPT
from extrap.model.rotary import relayout
from extrap.pretrained.exports.common import Exported, activation, check, head
from extrap.pretrained.names import Names

NAME = "GPT-NeoX"
NAMES = Names(
    prefix="gpt_neox.",
    block="layers.{}",
    linears={
        "qkv": "attention.query_key_value",
        "out": "attention.dense",
        "up": "mlp.dense_h_to_4h",
        "down": "mlp.dense_4h_to_h",
    },
    norms={"norm1": "input_layernorm", "norm2": "post_attention_layernorm"},
    outside={"embedding": "embed_in", "norm": "final_layer_norm"},
    head="embed_out",
    by_head=True,
)


def exported(model: GPT) -> Exported:
    block, scheme = model.blocks[0], model.scheme
    eps = check(model, nn.LayerNorm, NAME, parallel=True)
    kind = activation(model, NAME, "gelu", "gelu_new", "relu")
    width = scheme.turned or block.head_dim

    def halved(rows: Tensor) -> Tensor:
        """Queries and keys, (3 H D, ...), in the layout of the file."""
        q, k, v = rows.unflatten(0, (3, block.heads, block.head_dim))
        return torch.cat([_half(q, width, scheme), _half(k, width, scheme), v]).flatten(0, 1)

    tied, weights = head(model, "embed_out.weight")
    config = {
        "architectures": ["GPTNeoXForCausalLM"],
        "model_type": "gpt_neox",
        "vocab_size": len(model.embedding.weight),
        "hidden_size": model.embedding.weight.shape[1],
        "intermediate_size": len(block.up.weight),
        "num_hidden_layers": len(model.blocks),
        "num_attention_heads": block.heads,
        "hidden_act": kind,
        "max_position_embeddings": scheme.shape.length,
        "layer_norm_eps": eps,
        "use_parallel_residual": block.parallel,
        "tie_word_embeddings": tied,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": scheme.base,
            "partial_rotary_factor": width / block.head_dim,
        },
    }
    return config, weights | NAMES.write(model, halved)


def _half(x: Tensor, width: int, scheme) -> Tensor:
    """(H, D, ...): the channels that turn, pair p at p and p + width / 2."""
    heads = len(x)
    turned = relayout(x[:, :width].flatten(0, 1), heads, scheme.layout, "half")
    return torch.cat([turned.unflatten(0, (heads, width)), x[:, width:]], 1)
