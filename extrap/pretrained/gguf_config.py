"""The fields of a GGUF file that transformers leaves out or replaces by the defaults of a family:
extrap requires the fields that llama.cpp requires, and puts the others into the config.

The attention of Gemma 2 and 3 has no field for its scale: 1 / sqrt(D), of the 27B 1 / sqrt(C / H).
Source: https://github.com/ggml-org/llama.cpp, src/llama-model.cpp, src/models
"""

from collections.abc import Mapping, Sequence
from math import isclose
from pathlib import Path
from typing import Any

from extrap.pretrained.gguf_rope import WINDOW, left_out
from extrap.utils.errors import UserError

OF_27B = {"gemma2": 46, "gemma3": 62}
"""Layers by which llama.cpp knows the 27B of a family."""
OF_LAYER_NORM = ("bloom", "falcon", "gpt2", "nemotron", "stablelm", "starcoder2")
"""Architectures whose norms are LayerNorms in llama.cpp; the others have RMSNorms."""
LAYER_NORM, RMS_NORM = "attention.layer_norm_epsilon", "attention.layer_norm_rms_epsilon"
EPSILONS = ("rms_norm_eps", "layer_norm_eps", "norm_eps", "layer_norm_epsilon", "norm_epsilon")
"""The entries of transformers for an epsilon; a config has one of them."""
CAPS = ("attn_logit_softcapping", "final_logit_softcapping")
"""Keys of a file, and entries of a config."""
PATTERN = "attention.sliding_window_pattern"
BASE_OF_WINDOWS = "rope.freq_base_swa"
FULL, WINDOWED = "full_attention", "sliding_attention"


def _epsilon(kind: str) -> str:
    return LAYER_NORM if kind in OF_LAYER_NORM else RMS_NORM


def check_keys(path: Path, fields: Mapping[str, Any], tensors: Sequence[str]) -> None:
    """Raises UserError for a lacking field that llama.cpp requires. tensors: their names."""
    kind = fields["general.architecture"]
    needed = ["context_length", "embedding_length", "block_count", _epsilon(kind)]
    if kind != "mamba":
        needed.append("attention.head_count")
    if any(name.endswith(".ffn_up.weight") for name in tensors):
        needed.append("feed_forward_length")
    if any("_exps." in name for name in tensors):
        needed += ["expert_count", "expert_used_count"]
    if lacking := [key for key in needed if f"{kind}.{key}" not in fields]:
        problem = f"lacks the field {kind}.{lacking[0]}, so its value is not known"
        raise UserError(path, problem=problem, remedy="give the folder of the checkpoint")


def complete(path: Path, fields: Mapping[str, Any], config: Any) -> None:
    """Puts into a config of transformers what the fields of its file say. An entry that is right
    keeps its digits. Raises UserError for a field that the config has no entry for.
    """
    kind = fields["general.architecture"]
    text = config.get_text_config()
    if kind in OF_27B:
        scale = text.head_dim
        if text.num_hidden_layers == OF_27B[kind]:
            scale = text.hidden_size // text.num_attention_heads
        text.query_pre_attn_scalar = scale
    if kind == "phi3" and (window := fields.get(f"phi3.{WINDOW}")):
        text.sliding_window = int(window)
    entries = {key: (key,) for key in CAPS} | {_epsilon(kind): EPSILONS}
    for key, names in entries.items():
        if not (value := fields.get(f"{kind}.{key}")):
            continue
        name = next((name for name in names if hasattr(text, name)), None)
        if name is None:
            raise left_out(path, fields, key, value)
        if not isclose(value, getattr(text, name) or 0, rel_tol=1e-5):
            setattr(text, name, float(value))
    _set_windows(path, fields, text)


def _set_windows(path: Path, fields: Mapping[str, Any], text: Any) -> None:
    """Puts into a config the layers that see a window, and the base of their rotation."""
    kind = fields["general.architecture"]
    layers = range(text.num_hidden_layers)
    pattern = fields.get(f"{kind}.{PATTERN}")
    if kind == "gemma3" and not fields.get(f"{kind}.{WINDOW}"):
        pattern = 1
    if pattern is not None:
        known = getattr(text, "layer_types", None)
        if not known or not {*known} <= {FULL, WINDOWED}:
            raise left_out(path, fields, PATTERN, pattern)
        if isinstance(pattern, list):
            windowed = pattern
        else:  # of so many layers the last one sees everything
            windowed = [pattern == 0 or n % pattern < pattern - 1 for n in layers]
        text.layer_types = [WINDOWED if windowed[n] else FULL for n in layers]
    base = fields.get(f"{kind}.{BASE_OF_WINDOWS}")
    rope = getattr(text, "rope_parameters", None) or {}
    if base is None or WINDOWED not in (getattr(text, "layer_types", None) or ()):
        return
    own = rope.get(WINDOWED, rope)
    if isclose(base, own.get("rope_theta", 0), rel_tol=1e-5):
        return
    if WINDOWED not in rope:
        raise left_out(path, fields, BASE_OF_WINDOWS, base)
    text.rope_parameters = rope | {WINDOWED: own | {"rope_theta": float(base)}}
