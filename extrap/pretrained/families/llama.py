"""Llama and its relatives: RMS norms, RoPE on all channels of a head, grouped keys, a gated MLP.

Mistral adds a window, Qwen2 biases of queries, keys and values, Qwen3 norms of queries and keys.
SmolLM and most others call themselves llama.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from extrap.pretrained.plan import GATED, Plan, Settings, Tensors, head
from extrap.pretrained.rope import parameters, turning

MODEL_TYPES = ("llama", "mistral", "qwen2", "qwen3")
NORMS = {"norm1": "input_layernorm", "norm2": "post_attention_layernorm"}


OPTIONAL = {"use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28}
MISSING: dict[str, dict[str, Any]] = {
    "llama": {},
    "mistral": {"sliding_window": 4096},
    "qwen2": OPTIONAL,
    "qwen3": OPTIONAL,
}
"""What transformers takes where a config does not hold an entry; null is none."""


def plan(settings: Settings) -> Plan:
    kind = settings.get("model_type")
    settings = Settings(MISSING[kind] | dict(settings.values), settings.place)
    if kind == "llama":  # transformers reads none there, other programs do
        settings.only("sliding_window")
    turned = parameters(settings)
    if turned["rope_type"] == "default":  # the same
        Settings(turned, settings.place).only("partial_rotary_factor", 1)
    settings.only("pretraining_tp", 1)
    settings.only("mlp_bias", False)
    dim, heads = settings.size("hidden_size"), settings.size("num_attention_heads")
    head_dim = settings.size("head_dim", default=max(1, dim // heads))
    tied = bool(settings.get("tie_word_embeddings", False))
    bias = "none"
    if kind != "qwen2" and settings.get("attention_bias", False):
        bias = "attention"
    elif kind == "qwen2":
        bias = None
    options = {
        "dim": dim,
        "layers": settings.size("num_hidden_layers"),
        "heads": heads,
        "kv_heads": settings.size("num_key_value_heads", default=heads),
        "head_dim": None if head_dim * heads == dim else head_dim,
        "norm": "rms",
        "eps": settings.number("rms_norm_eps", 1e-6),
        "mlp": settings.one_of("hidden_act", GATED, "silu"),
        "ratio": settings.size("intermediate_size") / dim,
        "head": "shared" if tied else "untied",
        "bias": bias,
        "qk_norm": "head" if kind == "qwen3" else None,
    }
    layout = settings.get("extrap_layout", "half")

    return Plan(
        options,
        settings.size("vocab_size"),
        settings.size("max_position_embeddings"),
        lambda shape: turning(settings, shape, layout),
        lambda tensors: read(tensors, settings, options, head_dim),
    )


def read(
    tensors: Tensors,
    settings: Settings,
    options: dict[str, Any],
    D: int,
    norms: Mapping[str, str] = NORMS,
    shift: float = 0.0,
) -> dict[str, Tensor]:
    """The state dict of a GPT with these options. norms: names of those of a block; shift: what a
    norm adds to its weight, 1 in Gemma, in float32 whatever the numbers of the file, as the model
    does.
    """

    def shifted(weight: Tensor) -> Tensor:
        return weight.float() + shift if shift else weight

    tied = options["head"] == "shared"
    C, vocab = options["dim"], settings.size("vocab_size")
    hidden = settings.size("intermediate_size")
    rows = {"q": options["heads"] * D, "k": options["kv_heads"] * D, "v": options["kv_heads"] * D}
    tensors.inside("model.").drop("rotary_emb.inv_freq")
    found = {
        "embedding.weight": tensors.take("embed_tokens.weight", vocab, C),
        "norm.weight": shifted(tensors.take("norm.weight", C)),
        **head(tensors, tied, "lm_head.weight", vocab, C),
    }
    if tied:
        tensors.drop_copy("lm_head.weight", found["embedding.weight"])
    for n in range(options["layers"]):
        ours, theirs = f"blocks.{n}", f"layers.{n}"
        attention, mlp = f"{theirs}.self_attn", f"{theirs}.mlp"
        for part, size in (("weight", (C,)), ("bias", ())):
            if part == "weight" or options["bias"] != "none":
                found[f"{ours}.qkv.{part}"] = torch.cat(
                    [tensors.take(f"{attention}.{x}_proj.{part}", rows[x], *size) for x in "qkv"]
                )
        found[f"{ours}.out.weight"] = tensors.take(f"{attention}.o_proj.weight", C, rows["q"])
        if options["bias"] == "attention":
            found[f"{ours}.out.bias"] = tensors.take(f"{attention}.o_proj.bias", C)
        if options["qk_norm"]:
            for x in "qk":
                weight = tensors.take(f"{attention}.{x}_norm.weight", D)
                found[f"{ours}.norm_{x}.weight"] = shifted(weight)
        for name, size in (("gate", (hidden, C)), ("up", (hidden, C)), ("down", (C, hidden))):
            found[f"{ours}.{name}.weight"] = tensors.take(f"{mlp}.{name}_proj.weight", *size)
        for own, name in norms.items():
            found[f"{ours}.{own}.weight"] = shifted(tensors.take(f"{theirs}.{name}.weight", C))
    return found
