"""A model of our own as a folder that transformers reads: config.json and model.safetensors.

    RoPE on all channels, RMS norms, a SwiGLU MLP         Llama
    a learned table at the input, layer norms, no gate    GPT-2

Biases that a model lacks are written as zeros, a head that reads the embedding divided by sqrt(C)
as a matrix of its own. The logits are the same. What has no equal there is refused, with the option
that would have one.
"""

import json
from pathlib import Path

import torch
from torch import Tensor, nn

from extrap.model.gpt import GPT
from extrap.model.rotary import relayout
from extrap.schemes.learned import Learned
from extrap.schemes.rope import RoPE
from extrap.utils.errors import UserError

GPT2_ACTIVATIONS = {nn.GELU: {"none": "gelu", "tanh": "gelu_new"}, nn.ReLU: {"none": "relu"}}


def export(model: GPT, folder: Path) -> None:
    """Writes the folder. Raises UserError for a model that no architecture there is equal to."""
    from safetensors.torch import save_file

    of = {RoPE: _llama, Learned: _gpt2}.get(type(model.scheme))
    if of is None or "spectrum" in vars(model.scheme):
        name = type(model.scheme).__name__
        raise UserError(f"export: {name} has no equal in transformers; RoPE and Learned have one")
    config, weights = of(model)
    folder.mkdir(parents=True, exist_ok=True)
    plain = {name: t.detach().contiguous().clone() for name, t in weights.items()}
    save_file(plain, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")


def _require(holds: bool, option: str, architecture: str) -> None:
    if not holds:
        raise UserError(f"export: {architecture} needs {option}")


def _common(model: GPT, norm: type, architecture: str) -> float:
    """eps of the norms. Raises UserError for what neither architecture has."""
    block = model.blocks[0]
    word = {nn.RMSNorm: "rms", nn.LayerNorm: "layer"}[norm]
    _require(isinstance(model.norm, norm), f"model.norm={word}", architecture)
    _require(block.qk_norm is None, "model.qk_norm=null", architecture)
    _require(not block.parallel, "model.residual=null", architecture)
    _require(model.embedding_norm is None, "model.embedding_norm=null", architecture)
    _require(model.embedding_scale is None, "model.embedding_scale=null", architecture)
    eps = model.norm.eps
    return torch.finfo(model.norm.weight.dtype).eps if eps is None else eps


def _head(model: GPT) -> tuple[bool, dict[str, Tensor]]:
    """Whether it is the embedding as it is, and else its matrix."""
    if model.head is not None:
        return False, {"lm_head.weight": model.head.weight}
    if model.head_scale is None:
        return True, {}
    return False, {"lm_head.weight": model.embedding.weight * model.head_scale}


def _bias(layer: nn.Linear) -> Tensor:
    zeros = layer.weight.new_zeros(layer.weight.shape[0])
    return zeros if layer.bias is None else layer.bias


def _llama(model: GPT) -> tuple[dict, dict[str, Tensor]]:
    block, scheme = model.blocks[0], model.scheme
    eps = _common(model, nn.RMSNorm, "Llama")
    gated = block.gate is not None and isinstance(block.act, nn.SiLU)
    _require(gated, "model.mlp=swiglu", "Llama")
    _require(block.up.bias is None, "model.bias=null, none or attention", "Llama")
    biased = block.qkv.bias is not None
    tied, weights = _head(model)
    weights |= {
        "model.embed_tokens.weight": model.embedding.weight,
        "model.norm.weight": model.norm.weight,
    }
    counts = {"q": block.heads, "k": block.kv_heads, "v": block.kv_heads}
    sizes = [count * block.head_dim for count in counts.values()]
    for n, layer in enumerate(model.blocks):
        stem = f"model.layers.{n}"
        for part in ("weight", "bias") if biased else ("weight",):
            rows = getattr(layer.qkv, part).split(sizes)
            for (name, count), own in zip(counts.items(), rows, strict=True):
                turned = own if name == "v" else relayout(own, count, scheme.layout, "half")
                weights[f"{stem}.self_attn.{name}_proj.{part}"] = turned
        weights[f"{stem}.self_attn.o_proj.weight"] = layer.out.weight
        if biased:
            weights[f"{stem}.self_attn.o_proj.bias"] = _bias(layer.out)
        for name in ("gate", "up", "down"):
            weights[f"{stem}.mlp.{name}_proj.weight"] = getattr(layer, name).weight
        weights[f"{stem}.input_layernorm.weight"] = layer.norm1.weight
        weights[f"{stem}.post_attention_layernorm.weight"] = layer.norm2.weight
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": len(model.embedding.weight),
        "hidden_size": model.embedding.weight.shape[1],
        "intermediate_size": len(block.up.weight),
        "num_hidden_layers": len(model.blocks),
        "num_attention_heads": block.heads,
        "num_key_value_heads": block.kv_heads,
        "head_dim": block.head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": scheme.shape.length,
        "rms_norm_eps": eps,
        "tie_word_embeddings": tied,
        "attention_bias": biased,
        "rope_parameters": {"rope_type": "default", "rope_theta": scheme.base},
    }
    return config, weights


def _gpt2(model: GPT) -> tuple[dict, dict[str, Tensor]]:
    block, table = model.blocks[0], model.scheme.table
    eps = _common(model, nn.LayerNorm, "GPT-2")
    kind = GPT2_ACTIVATIONS.get(type(block.act), {}).get(getattr(block.act, "approximate", "none"))
    plain = block.gate is None and kind is not None
    _require(plain, "model.mlp=gelu, gelu-tanh or relu", "GPT-2")
    _require(block.kv_heads == block.heads, "model.kv_heads=null", "GPT-2")
    _require(len(table) == 1 and model.scheme.policy == "raise", "scheme=learned", "GPT-2")
    C = model.embedding.weight.shape[1]
    _require(block.heads * block.head_dim == C, "model.head_dim=null", "GPT-2")
    tied, weights = _head(model)
    weights |= {
        "transformer.wte.weight": model.embedding.weight,
        "transformer.wpe.weight": table[0],
    }
    names = {"qkv": "attn.c_attn", "out": "attn.c_proj", "up": "mlp.c_fc", "down": "mlp.c_proj"}
    norms = {"transformer.ln_f": model.norm}
    for n, layer in enumerate(model.blocks):
        stem = f"transformer.h.{n}"
        norms |= {f"{stem}.ln_1": layer.norm1, f"{stem}.ln_2": layer.norm2}
        for ours, theirs in names.items():
            linear = getattr(layer, ours)
            weights[f"{stem}.{theirs}.weight"] = linear.weight.T
            weights[f"{stem}.{theirs}.bias"] = _bias(linear)
    for name, norm in norms.items():
        weights |= {f"{name}.weight": norm.weight, f"{name}.bias": norm.bias}
    config = {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": len(model.embedding.weight),
        "n_positions": len(table[0]),
        "n_embd": C,
        "n_inner": len(block.up.weight),
        "n_layer": len(model.blocks),
        "n_head": block.heads,
        "activation_function": kind,
        "layer_norm_epsilon": eps,
        "tie_word_embeddings": tied,
    }
    return config, weights
