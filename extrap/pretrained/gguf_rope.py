"""The rotation of a GGUF file, as rope_parameters of transformers. Read as llama.cpp reads it.

`linear` and `none` have theta_p / (factor divisor_p), `yarn` its own; cosine and sine times
attn_factor, and times 0.1 ln factor + 1 under `yarn`. Without a type a factor is `linear`; a
factor of 0 is 1; `none` has no factor. divisor_p: tensor rope_freqs (Llama 3.1).
Source: https://github.com/ggml-org/llama.cpp, src/llama-model.cpp, src/llama-context.cpp
"""

from collections.abc import Mapping, Sequence
from math import isclose, log
from pathlib import Path
from typing import Any

from extrap.utils.errors import UserError

TYPES = ("none", "linear", "yarn")
FACTORS = ("rope.scaling.factor", "rope.scale_linear")
"""The key of the factor, and its older name."""
ATTENTION = "rope.scaling.attn_factor"
ORIGINAL = "rope.scaling.original_context_length"
TYPE = "rope.scaling.type"
BASE = "rope.freq_base"
WINDOW = "attention.sliding_window"
TURNED = "rope.dimension_count"
READ = (TYPE, *FACTORS, ATTENTION, ORIGINAL)
INERT = {
    "rope.scaling.finetuned": (True, False),
    "rope.scaling.yarn_ext_factor": (-1, 1),
    "rope.scaling.yarn_beta_fast": (32,),
    "rope.scaling.yarn_beta_slow": (1,),
    "rope.scaling.yarn_log_multiplier": (0,),
    "rope.scaling.alpha": (0, 1),
}
"""Keys of scaling that extrap reads only at these values, which change nothing."""


NOTHING = INERT | dict.fromkeys(FACTORS, (0, 1)) | {TYPE: ("none", "linear"), ATTENTION: (1,)}
"""Values that change nothing by themselves."""


def scaling_keys(kind: str, fields: Mapping[str, Any]) -> list[str]:
    """Returns the keys of scaling of an architecture, without its name."""
    stem = f"{kind}."
    own = (name.removeprefix(stem) for name in fields if name.startswith(stem))
    return [name for name in own if name.startswith("rope.scal")]


def rope_parameters(
    path: Path, kind: str, fields: Mapping[str, Any], pairs: int, divisors: Sequence[float] | None
) -> dict[str, Any]:
    """Returns rope_parameters.

    Args:
        pairs: of a head
        divisors: one a pair, or None

    Raises UserError for a kind of scaling or a key that extrap does not read, and ValueError for a
    number that makes no sense.
    """
    for key in scaling_keys(kind, fields):
        value = fields[f"{kind}.{key}"]
        if key not in READ and value not in INERT.get(key, ()):
            problem = f"{kind}.{key}={value!s:.40} is not supported"
            raise UserError(path, problem=problem, remedy="give the folder of the checkpoint")
    scaling = fields.get(f"{kind}.{TYPE}", "linear")
    if scaling not in TYPES:  # it may be a list
        raise UserError(path, problem=f"{kind}.{TYPE}={scaling!s:.40} is not supported")
    base = number(kind, fields, BASE, 10000.0)
    given = next((key for key in FACTORS if f"{kind}.{key}" in fields), None)
    factor = 1.0
    if given is not None and fields[f"{kind}.{given}"] != 0 and scaling != "none":
        factor = number(kind, fields, given)
    times = number(kind, fields, ATTENTION, 1.0)
    found: dict[str, Any] = {"rope_type": "default", "rope_theta": base}
    if scaling == "yarn":
        if divisors is not None:
            problem = f"{kind}.{TYPE}=yarn beside a tensor rope_freqs is not supported"
            raise UserError(path, problem=problem)
        found |= {"rope_type": "yarn", "factor": factor}
        if times != 1:
            found["attention_factor"] = times * (0.1 * log(max(1.0, factor)) + 1)
    elif divisors is not None or times != 1:
        slower = [factor * divisor for divisor in divisors or [1.0] * pairs]
        both = dict.fromkeys(("long_factor", "short_factor"), slower)
        found |= {"rope_type": "longrope", "attention_factor": times} | both
    elif factor != 1:
        found |= {"rope_type": "linear", "factor": factor}
    before = original(kind, fields)
    if found["rope_type"] != "default" and before is not None:
        found["original_max_position_embeddings"] = before
    return found


def original(kind: str, fields: Mapping[str, Any]) -> int | None:
    """Returns the context before the scaling, None if the file does not say it."""
    known = f"{kind}.{ORIGINAL}" in fields
    return int(number(kind, fields, ORIGINAL)) if known else None


def number(kind: str, fields: Mapping[str, Any], key: str, default: float | None = None) -> float:
    """Returns a field as a number above 0. Raises ValueError for anything else."""
    found = fields.get(f"{kind}.{key}", default)
    if not isinstance(found, int | float) or not found > 0:
        raise ValueError(f"{kind}.{key}={found!s:.40}")
    return float(found)


def left_out(path: Path, fields: Mapping[str, Any], key: str, value: Any) -> UserError:
    """Returns the error for the value of a key, or of a lacking key, that transformers leaves out.
    key: without the name of the architecture
    """
    named = f"{fields['general.architecture']}.{key}"
    default = "" if named in fields else " (the default)"
    problem = f"{named}={value!s:.40}{default} is not supported: transformers leaves it out"
    return UserError(path, problem=problem, remedy="give the folder of the checkpoint")


def check_read(path: Path, fields: Mapping[str, Any], tensors: Sequence[str], config: Any) -> None:
    """Raises UserError for a base, turned channels, a scaling or a window in a file that the config
    lacks which transformers makes of it. A file without a base means 10000, one without turned
    channels the whole head.

    tensors: their names.
    """
    text = config.get_text_config()
    rope = getattr(text, "rope_parameters", None) or {}
    each = [rope, *(part for part in rope.values() if isinstance(part, dict))]
    kind = fields["general.architecture"]
    window = fields.get(f"{kind}.{WINDOW}")
    if window and getattr(text, "sliding_window", None) != window:
        raise left_out(path, fields, WINDOW, window)
    base = fields.get(f"{kind}.{BASE}", 10000.0)
    made = rope.get("full_attention", rope).get("rope_theta")
    if made is not None and not isclose(base, made, rel_tol=1e-5):
        raise left_out(path, fields, BASE, base)
    if "rope_theta" in rope:  # a Gemma has a rotation by kind of layer
        head_dim = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
        turned = fields.get(f"{kind}.{TURNED}", head_dim)
        if turned != int(head_dim * rope.get("partial_rotary_factor", 1.0)):
            raise left_out(path, fields, TURNED, turned)
    if any(part.get("rope_type", "default") != "default" for part in each):
        return
    scaled = [
        f"{kind}.{key}={fields[f'{kind}.{key}']!s:.40}"
        for key in scaling_keys(kind, fields)
        if key != ORIGINAL and fields[f"{kind}.{key}"] not in NOTHING.get(key, ())
    ]
    scaled += [f"tensor {name}" for name in tensors if name.startswith("rope_")]
    if scaled:
        problem = f"{scaled[0]} is not supported: transformers leaves it out"
        raise UserError(path, problem=problem, remedy="give the folder of the checkpoint")
