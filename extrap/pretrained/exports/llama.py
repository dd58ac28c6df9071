"""Llama of RoPE on all channels of a head, RMS norms and a SwiGLU MLP."""

from torch import nn

from extrap.model.gpt import GPT
from extrap.model.rotary import relayout
from extrap.pretrained.exports.common import Exported, check, head, require
from extrap.pretrained.names import bias_of

NAME = "Llama"


def exported(model: GPT) -> Exported:
    block, scheme = model.blocks[0], model.scheme
    eps = check(model, nn.RMSNorm, NAME, groups=True)
    gated = block.gate is not None and isinstance(block.act, nn.SiLU)
    require(gated, "model.mlp=swiglu", NAME)
    require(block.up.bias is None, "model.bias=null, none or attention", NAME)
    biased = block.qkv.bias is not None
    tied, weights = head(model)
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
            weights[f"{stem}.self_attn.o_proj.bias"] = bias_of(layer.out)
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
