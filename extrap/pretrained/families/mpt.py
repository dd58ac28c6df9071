"""MPT: ALiBi with slopes in an order of its own, layer norms without biases, a tied head."""

import torch
from torch import Tensor

from extrap.pretrained.plan import Plan, Settings, Tensors
from extrap.schemes.alibi import ALiBi

MODEL_TYPES = ("mpt",)


def slopes(heads: int, steepest: float) -> list[float]:
    """2**(-n steepest / P), n = 1 .. P, P the next power of two; for fewer heads the second,
    fourth, ... first, then the others.
    """
    power = 1 << (heads - 1).bit_length()
    every = [2 ** (-n * steepest / power) for n in range(1, power + 1)]
    return every if power == heads else (every[1::2] + every[::2])[:heads]


def plan(settings: Settings) -> Plan:
    attention = Settings(settings.get("attn_config", {}), f"{settings.place} attn_config")
    attention.only("alibi", True)
    for name in ("clip_qkv", "softmax_scale"):
        attention.only(name)
    for name in ("prefix_lm", "qk_ln", "attn_uses_sequence_id"):
        attention.only(name, False)
    settings.only("no_bias", True)
    settings.only("logit_scale")
    settings.only("embedding_fraction", 1, 1.0)
    settings.only("tie_word_embeddings", True)
    dim, heads = settings.size("d_model"), settings.size("n_heads")
    layers, vocab = settings.size("n_layers"), settings.size("vocab_size")
    ratio = settings.size("expansion_ratio", default=4)
    steepest = attention.number("alibi_bias_max", 8)
    options = {
        "dim": dim,
        "layers": layers,
        "heads": heads,
        "norm": "layer",
        "eps": settings.number("layer_norm_epsilon", 1e-5),
        "mlp": "gelu",
        "ratio": float(ratio),
        "head": "shared",
        "bias": "none",
    }

    def weights(tensors: Tensors) -> dict[str, Tensor]:
        tensors.inside("transformer.")
        tensors.left.discard("lm_head.weight")
        found = {"embedding.weight": tensors.take("wte.weight", vocab, dim)}
        norms = {"norm": "norm_f"}
        sizes = {
            "qkv": ("attn.Wqkv", 3 * dim, dim),
            "out": ("attn.out_proj", dim, dim),
            "up": ("ffn.up_proj", ratio * dim, dim),
            "down": ("ffn.down_proj", dim, ratio * dim),
        }
        for n in range(layers):
            norms |= {f"blocks.{n}.norm{x}": f"blocks.{n}.norm_{x}" for x in "12"}
            for ours, (theirs, outer, inner) in sizes.items():
                weight = tensors.take(f"blocks.{n}.{theirs}.weight", outer, inner)
                found[f"blocks.{n}.{ours}.weight"] = weight
        for ours, theirs in norms.items():
            found[f"{ours}.weight"] = tensors.take(f"{theirs}.weight", dim)
            found[f"{ours}.bias"] = torch.zeros(dim)
        return found

    def scheme(shape):
        return ALiBi(shape, slopes(heads, steepest))

    return Plan(options, vocab, settings.size("max_seq_len"), scheme, weights)
