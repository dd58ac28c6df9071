"""OPT: a learned table of positions whose first two rows are never read, ReLU, layer norms, biases
everywhere, a tied head.
"""

import torch
from torch import Tensor

from extrap.pretrained.plan import ACTIVATIONS, Plan, Settings, Tensors
from extrap.schemes.learned import Learned

MODEL_TYPES = ("opt",)
UNREAD = 2


def plan(settings: Settings) -> Plan:
    settings.only("do_layer_norm_before", True)
    settings.only("_remove_final_layer_norm", False)
    settings.only("enable_bias", True)
    settings.only("layer_norm_elementwise_affine", True)
    settings.only("tie_word_embeddings", True)
    dim, layers = settings.size("hidden_size"), settings.size("num_hidden_layers")
    settings.only("word_embed_proj_dim", dim)
    hidden, vocab = settings.size("ffn_dim"), settings.size("vocab_size")
    rows = settings.size("max_position_embeddings")
    options = {
        "dim": dim,
        "layers": layers,
        "heads": settings.size("num_attention_heads"),
        "norm": "layer",
        "eps": 1e-5,
        "mlp": settings.one_of("activation_function", ACTIVATIONS, "relu"),
        "ratio": hidden / dim,
        "head": "shared",
        "bias": "all",
    }

    def weights(tensors: Tensors) -> dict[str, Tensor]:
        tensors.inside("model.decoder.").inside("decoder.")
        table = tensors.take("embed_positions.weight", rows + UNREAD, dim)
        found = {
            "embedding.weight": tensors.take("embed_tokens.weight", vocab, dim),
            "scheme.table": table[None, UNREAD:],
        }
        tensors.drop_copy("lm_head.weight", found["embedding.weight"])
        norms = {"norm": "final_layer_norm"}
        sizes = {
            "out": ("self_attn.out_proj", dim, dim),
            "up": ("fc1", hidden, dim),
            "down": ("fc2", dim, hidden),
        }
        for n in range(layers):
            norms[f"blocks.{n}.norm1"] = f"layers.{n}.self_attn_layer_norm"
            norms[f"blocks.{n}.norm2"] = f"layers.{n}.final_layer_norm"
            for part, inner in (("weight", (dim,)), ("bias", ())):
                names = (f"layers.{n}.self_attn.{x}_proj.{part}" for x in "qkv")
                found[f"blocks.{n}.qkv.{part}"] = torch.cat(
                    [tensors.take(name, dim, *inner) for name in names]
                )
            for ours, (theirs, outer, inner) in sizes.items():
                weight = tensors.take(f"layers.{n}.{theirs}.weight", outer, inner)
                found[f"blocks.{n}.{ours}.weight"] = weight
                found[f"blocks.{n}.{ours}.bias"] = tensors.take(f"layers.{n}.{theirs}.bias", outer)
        for ours, theirs in norms.items():
            for part in ("weight", "bias"):
                found[f"{ours}.{part}"] = tensors.take(f"{theirs}.{part}", dim)
        return found

    return Plan(options, vocab, rows, lambda shape: Learned(shape, rows), weights)
