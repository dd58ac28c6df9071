"""GPT-NeoX (Pythia): RoPE on a part of the channels, attention and MLP of one x, layer norms,
biases. Queries, keys and values of a head lie side by side in the file.
"""

from torch import Tensor

from extrap.pretrained.families.bloom import by_head
from extrap.pretrained.plan import ACTIVATIONS, Plan, Settings, Tensors, head
from extrap.pretrained.rope import turning

MODEL_TYPES = ("gpt_neox",)


def plan(settings: Settings) -> Plan:
    settings.only("attention_bias", True)
    dim, heads = settings.size("hidden_size"), settings.size("num_attention_heads")
    layers, vocab = settings.size("num_hidden_layers"), settings.size("vocab_size")
    hidden = settings.size("intermediate_size")
    tied = bool(settings.get("tie_word_embeddings", False))
    parallel = settings.get("use_parallel_residual", True)
    options = {
        "dim": dim,
        "layers": layers,
        "heads": heads,
        "norm": "layer",
        "eps": settings.number("layer_norm_eps", 1e-5),
        "mlp": settings.one_of("hidden_act", ACTIVATIONS, "gelu"),
        "ratio": hidden / dim,
        "head": "shared" if tied else "untied",
        "bias": "all",
        "residual": "parallel" if parallel else None,
    }

    def weights(tensors: Tensors) -> dict[str, Tensor]:
        tensors.inside("gpt_neox.")
        tensors.drop("rotary_emb.inv_freq", "attention.bias", "attention.masked_bias")
        found = {
            "embedding.weight": tensors.take("embed_in.weight", vocab, dim),
            **head(tensors, tied, "embed_out.weight", vocab, dim),
        }
        norms = {"norm": "final_layer_norm"}
        sizes = {
            "qkv": ("attention.query_key_value", 3 * dim, dim),
            "out": ("attention.dense", dim, dim),
            "up": ("mlp.dense_h_to_4h", hidden, dim),
            "down": ("mlp.dense_4h_to_h", dim, hidden),
        }
        for n in range(layers):
            norms[f"blocks.{n}.norm1"] = f"layers.{n}.input_layernorm"
            norms[f"blocks.{n}.norm2"] = f"layers.{n}.post_attention_layernorm"
            for ours, (theirs, outer, inner) in sizes.items():
                weight = tensors.take(f"layers.{n}.{theirs}.weight", outer, inner)
                bias = tensors.take(f"layers.{n}.{theirs}.bias", outer)
                if ours == "qkv":
                    weight, bias = by_head(weight, heads), by_head(bias, heads)
                found[f"blocks.{n}.{ours}.weight"] = weight
                found[f"blocks.{n}.{ours}.bias"] = bias
        for ours, theirs in norms.items():
            for part in ("weight", "bias"):
                found[f"{ours}.{part}"] = tensors.take(f"{theirs}.{part}", dim)
        return found

    def scheme(shape):
        return turning(settings, shape)

    return Plan(options, vocab, settings.size("max_position_embeddings"), scheme, weights)
