"""GPT-2: a learned table of positions, layer norms, biases everywhere, most often a tied head.
Matrices lie transposed in the file.
"""

from torch import Tensor

from extrap.pretrained.plan import ACTIVATIONS, Plan, Settings, Tensors, head
from extrap.schemes.learned import Learned

MODEL_TYPES = ("gpt2",)


def plan(settings: Settings) -> Plan:
    settings.only("scale_attn_weights", True)
    settings.only("scale_attn_by_inverse_layer_idx", False)
    settings.only("add_cross_attention", False)
    tied = bool(settings.get("tie_word_embeddings", True))
    dim = settings.size("n_embd")
    hidden = settings.size("n_inner", default=4 * dim)
    rows = settings.size("n_positions", "n_ctx")
    options = {
        "dim": dim,
        "layers": settings.size("n_layer"),
        "heads": settings.size("n_head"),
        "norm": "layer",
        "eps": settings.number("layer_norm_epsilon", 1e-5),
        "mlp": settings.one_of("activation_function", ACTIVATIONS, "gelu_new"),
        "ratio": hidden / dim,
        "head": "shared" if tied else "untied",
        "bias": "all",
    }

    def weights(tensors: Tensors) -> dict[str, Tensor]:
        vocab = settings.size("vocab_size")
        tensors.inside("transformer.").drop(".attn.bias", ".attn.masked_bias")
        found = {
            **head(tensors, tied, "lm_head.weight", vocab, dim),
            "embedding.weight": tensors.take("wte.weight", vocab, dim),
            "scheme.table": tensors.take("wpe.weight", rows, dim)[None],
        }
        sizes = {
            "qkv": ("attn.c_attn", dim, 3 * dim),
            "out": ("attn.c_proj", dim, dim),
            "up": ("mlp.c_fc", dim, hidden),
            "down": ("mlp.c_proj", hidden, dim),
        }
        norms = {"norm": "ln_f"}
        for n in range(options["layers"]):
            norms |= {f"blocks.{n}.norm{x}": f"h.{n}.ln_{x}" for x in "12"}
            for ours, (theirs, inner, outer) in sizes.items():
                weight = tensors.take(f"h.{n}.{theirs}.weight", inner, outer)
                found[f"blocks.{n}.{ours}.weight"] = weight.T
                found[f"blocks.{n}.{ours}.bias"] = tensors.take(f"h.{n}.{theirs}.bias", outer)
        for ours, theirs in norms.items():
            for part in ("weight", "bias"):
                found[f"{ours}.{part}"] = tensors.take(f"{theirs}.{part}", dim)
        return found

    return Plan(
        options, settings.size("vocab_size"), rows, lambda shape: Learned(shape, rows), weights
    )
