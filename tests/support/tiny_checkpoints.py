"""Tiny random checkpoints of every family, made, saved and read again by transformers' own classes:
the oracle of extrap/pretrained.
"""

from typing import Any

import torch

COMMON = {
    "vocab_size": 61,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 32,
}
NEOX = {key: value for key, value in COMMON.items() if key != "num_key_value_heads"}

ROOM = {"original_max_position_embeddings": 16}
HIGH = ROOM | {"high_freq_factor": 2.0}
YARN: dict[str, Any] = {"rope_type": "yarn"} | ROOM
LONG: dict[str, Any] = {"long_factor": [1.0, 1.5, 3.0, 4.0], "short_factor": [1.0, 1.0, 1.25, 1.5]}
SCALED: dict[str, dict[str, Any]] = {
    "default": {"rope_type": "default"},
    "linear": {"rope_type": "linear", "factor": 3.0},
    "dynamic": {"rope_type": "dynamic", "factor": 2.0},
    "llama3": {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 0.5} | HIGH,
    "yarn": YARN | {"factor": 4.0, "beta_fast": 2.0, "beta_slow": 0.25},
    "yarn-plain": YARN | {"factor": 2.0, "truncate": False, "mscale": 0.7, "mscale_all_dim": 1.3},
    "longrope": {"rope_type": "longrope", "factor": 4.0} | ROOM | LONG,
}
"""Every kind of scaling, with numbers at which each pair of a tiny head is treated in its own way.
"""


def rope(kind: str, theta: float = 500.0, pairs: int = 4, **more: Any) -> dict[str, Any]:
    values = dict(SCALED[kind]) | {"rope_theta": theta} | more
    for name in ("long_factor", "short_factor"):
        if name in values:
            values[name] = values[name][:pairs]
    return {"rope_parameters": values}


def made(kind: str, **options: Any):
    """A model of transformers, every weight drawn, norms and biases included."""
    import transformers as t

    classes = {
        "llama": (t.LlamaConfig, t.LlamaForCausalLM, COMMON),
        "mistral": (t.MistralConfig, t.MistralForCausalLM, COMMON | {"head_dim": 8}),
        "qwen2": (t.Qwen2Config, t.Qwen2ForCausalLM, COMMON),
        "qwen3": (t.Qwen3Config, t.Qwen3ForCausalLM, COMMON | {"head_dim": 12}),
        "gemma": (t.GemmaConfig, t.GemmaForCausalLM, COMMON | {"head_dim": 12}),
        "bert": (t.BertConfig, t.BertLMHeadModel, NEOX),
        "gemma2": (
            t.Gemma2Config,
            t.Gemma2ForCausalLM,
            COMMON | {"head_dim": 12, "query_pre_attn_scalar": 7, "sliding_window": 9},
        ),
        "gemma3": (
            t.Gemma3TextConfig,
            t.Gemma3ForCausalLM,
            COMMON | {"head_dim": 12, "query_pre_attn_scalar": 7, "sliding_window": 9},
        ),
        "olmo2": (t.Olmo2Config, t.Olmo2ForCausalLM, COMMON | {"eos_token_id": 0}),
        "hunyuan": (
            t.HunYuanDenseV1Config,
            t.HunYuanDenseV1ForCausalLM,
            COMMON | {"head_dim": 8, "eos_token_id": 0},
        ),
        "gpt_neo": (
            t.GPTNeoConfig,
            t.GPTNeoForCausalLM,
            {
                "vocab_size": 61,
                "hidden_size": 32,
                "num_layers": 2,
                "attention_types": [[["global", "local"], 1]],
                "num_heads": 4,
                "window_size": 8,
                "max_position_embeddings": 32,
            },
        ),
        "neox": (t.GPTNeoXConfig, t.GPTNeoXForCausalLM, NEOX),
        "gpt2": (
            t.GPT2Config,
            t.GPT2LMHeadModel,
            {"vocab_size": 61, "n_positions": 64, "n_embd": 32, "n_layer": 3, "n_head": 4},
        ),
        "bloom": (
            t.BloomConfig,
            t.BloomForCausalLM,
            {"vocab_size": 61, "hidden_size": 32, "n_layer": 3, "n_head": 4, "seq_length": 32},
        ),
        "mpt": (
            t.MptConfig,
            t.MptForCausalLM,
            {"vocab_size": 61, "d_model": 32, "n_heads": 4, "n_layers": 3, "max_seq_len": 96},
        ),
        "opt": (
            t.OPTConfig,
            t.OPTForCausalLM,
            {
                "vocab_size": 61,
                "hidden_size": 32,
                "word_embed_proj_dim": 32,
                "ffn_dim": 48,
                "num_hidden_layers": 3,
                "num_attention_heads": 4,
                "max_position_embeddings": 64,
            },
        ),
    }
    config, model, given = classes[kind]
    torch.manual_seed(0)
    found = model(config(**(given | options))).eval()
    for name, p in found.named_parameters():
        p.data = torch.randn_like(p) * (0.5 if p.dim() == 1 else 0.25)
        is_norm = p.dim() == 1 and ("norm" in name or "ln_" in name)
        if is_norm and name.endswith("weight") and "gemma" not in kind:
            p.data += 1.0
    return found
