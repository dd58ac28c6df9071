"""BLOOM: ALiBi, a norm of the token embedding, layer norms, biases everywhere, a tied head.
Queries, keys and values of a head lie side by side in the file.
"""

from torch import Tensor

from extrap.pretrained.plan import Plan, Settings, Tensors
from extrap.schemes.alibi import ALiBi

MODEL_TYPES = ("bloom",)


def by_head(fused: Tensor, heads: int) -> Tensor:
    """Rows (H, 3, D) of a fused projection as (3, H, D); weights (3 H D, C) and biases (3 H D,)."""
    return fused.unflatten(0, (heads, 3, -1)).transpose(0, 1).flatten(0, 2)


def plan(settings: Settings) -> Plan:
    settings.only("apply_residual_connection_post_layernorm", False)
    settings.only("tie_word_embeddings", True)
    dim = settings.size("hidden_size", "n_embed")
    heads = settings.size("n_head", "num_attention_heads")
    layers = settings.size("n_layer", "num_hidden_layers")
    vocab = settings.size("vocab_size")
    options = {
        "dim": dim,
        "layers": layers,
        "heads": heads,
        "norm": "layer",
        "eps": settings.number("layer_norm_epsilon", 1e-5),
        "mlp": "gelu-tanh",
        "head": "shared",
        "bias": "all",
        "embedding_norm": "layer",
    }

    def weights(tensors: Tensors) -> dict[str, Tensor]:
        tensors.inside("transformer.")
        tensors.left.discard("lm_head.weight")
        found = {"embedding.weight": tensors.take("word_embeddings.weight", vocab, dim)}
        norms = {"embedding_norm": "word_embeddings_layernorm", "norm": "ln_f"}
        sizes = {
            "qkv": ("self_attention.query_key_value", 3 * dim, dim),
            "out": ("self_attention.dense", dim, dim),
            "up": ("mlp.dense_h_to_4h", 4 * dim, dim),
            "down": ("mlp.dense_4h_to_h", dim, 4 * dim),
        }
        for n in range(layers):
            norms[f"blocks.{n}.norm1"] = f"h.{n}.input_layernorm"
            norms[f"blocks.{n}.norm2"] = f"h.{n}.post_attention_layernorm"
            for ours, (theirs, outer, inner) in sizes.items():
                weight = tensors.take(f"h.{n}.{theirs}.weight", outer, inner)
                bias = tensors.take(f"h.{n}.{theirs}.bias", outer)
                if ours == "qkv":
                    weight, bias = by_head(weight, heads), by_head(bias, heads)
                found[f"blocks.{n}.{ours}.weight"] = weight
                found[f"blocks.{n}.{ours}.bias"] = bias
        for ours, theirs in norms.items():
            for part in ("weight", "bias"):
                found[f"{ours}.{part}"] = tensors.take(f"{theirs}.{part}", dim)
        return found

    length = settings.get("seq_length") or settings.get("n_positions")
    return Plan(options, vocab, length, ALiBi, weights)
