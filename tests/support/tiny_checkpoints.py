"""Tiny random checkpoints of every family, made, saved and read again by transformers' own classes:
the oracle of extrap/pretrained.
"""

import json
from pathlib import Path
from typing import Any

import torch

from extrap.pretrained.checkpoint import Checkpoint

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


GEMMA = COMMON | {"head_dim": 12, "query_pre_attn_scalar": 7, "sliding_window": 9}
SMALL = {"vocab_size": 61, "hidden_size": 32}
KINDS: dict[str, dict[str, Any]] = {
    "llama": COMMON,
    "qwen2": COMMON,
    "bert": NEOX,
    "gemma2": GEMMA,
    "gemma3": GEMMA,
    "olmo2": COMMON | {"eos_token_id": 0},
    "hunyuan": COMMON | {"head_dim": 8, "eos_token_id": 0},
    "gpt_neo": SMALL
    | {"num_layers": 2, "num_heads": 4, "window_size": 8, "max_position_embeddings": 32}
    | {"attention_types": [[["global", "local"], 1]]},
    "neox": NEOX,
    "smollm3": COMMON,
    "gpt2": {"vocab_size": 61, "n_positions": 64, "n_embd": 32, "n_layer": 3, "n_head": 4},
    "bloom": SMALL | {"n_layer": 3, "n_head": 4, "seq_length": 32},
    "mpt": {"vocab_size": 61, "d_model": 32, "n_heads": 4, "n_layers": 3, "max_seq_len": 96},
    "opt": SMALL
    | {"word_embed_proj_dim": 32, "ffn_dim": 48, "max_position_embeddings": 64}
    | {"num_hidden_layers": 3, "num_attention_heads": 4},
}
"""By kind: the entries of its config."""
TYPES = {"gemma3": "gemma3_text", "hunyuan": "hunyuan_v1_dense", "neox": "gpt_neox"}
"""By kind: the model_type, if it is another word."""


def rewritten(folder: Path, kind: str, options: dict[str, Any] | None = None, **changes: Any):
    """A saved model whose config.json is changed; None removes an entry."""
    made(kind, **(options or {})).save_pretrained(folder)
    path = folder / "config.json"
    config = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))
    return Checkpoint(str(folder))


def made(kind: str, **options: Any):
    """A model of transformers, every weight drawn, norms and biases included."""
    import transformers as t

    config = t.AutoConfig.for_model(TYPES.get(kind, kind), **(KINDS[kind] | options))
    torch.manual_seed(0)
    found = t.AutoModelForCausalLM.from_config(config).eval()
    for name, p in found.named_parameters():
        p.data = torch.randn_like(p) * (0.5 if p.dim() == 1 else 0.25)
        is_norm = p.dim() == 1 and ("norm" in name or "ln_" in name)
        if is_norm and name.endswith("weight") and "gemma" not in kind:
            p.data += 1.0
    return found
