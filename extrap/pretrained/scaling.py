"""The scaling of rotations that a config of transformers brings, and the same config without it."""

from copy import deepcopy
from typing import Any

KEPT = ("rope_theta", "partial_rotary_factor")
OF_LLAMA_4 = ("llama_4_scaling_beta", "original_max_position_embeddings")
"""Of a temperature by position that Ministral 3 has in addition to its scaling."""
PLAIN = ("default", "proportional", "axial")
"""Types of rotation without a scaling."""


GIVEN = "extrap_original"
"""In a config of a GGUF file: the context before its scaling, null if the file does not say it."""


def _rotations(config: Any) -> list[dict[str, Any]]:
    """Returns rope_parameters, of every kind of layer if they differ."""
    rope = getattr(config.get_text_config(), "rope_parameters", None) or {}
    nested = [part for part in rope.values() if isinstance(part, dict)]
    return nested or [rope]


def _scaled(config: Any) -> list[dict[str, Any]]:
    return [part for part in _rotations(config) if part.get("rope_type", "default") not in PLAIN]


def scaling_of(config: Any) -> str | None:
    """Returns type and factor of the first scaling of a config, in words; None without one."""
    if not (found := _scaled(config)):
        return None
    factor = found[0].get("factor")
    return found[0]["rope_type"] + (f" by {factor:g}" if isinstance(factor, int | float) else "")


def window_of(config: Any) -> int | None:
    """Returns the context before the scaling, in tokens; None if the config does not say it."""
    text = config.get_text_config()
    found = _scaled(config)
    names = "original_max_position_embeddings"
    if hasattr(text, GIVEN):
        return getattr(text, GIVEN)
    given = [*(part.get(names) for part in found), getattr(text, names, None)]
    if any(part["rope_type"] == "dynamic" for part in found):
        given.append(text.max_position_embeddings)
    return next((n for n in given if isinstance(n, int)), None)


def unscaled(config: Any) -> Any:
    """Returns a copy of a config whose rotations are plain."""
    config = deepcopy(config)
    for part in _scaled(config):
        names = (*KEPT, *OF_LLAMA_4) if part.get(OF_LLAMA_4[0]) is not None else KEPT
        kept = {name: part[name] for name in names if name in part}
        part.clear()
        part.update(kept, rope_type="default")
    return config
