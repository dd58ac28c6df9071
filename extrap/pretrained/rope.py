"""The rotation of a checkpoint: its base, its channels, and the scaling that its config puts in
force.

    default     theta_p = base**(-2p/d)
    linear      theta / factor
    dynamic     NTK whose factor is factor n / L - (factor - 1) in a forward of n > L tokens
    llama3      kept from high_freq_factor turns within the original length, slowed below
                low_freq_factor, arXiv 2407.21783
    yarn        the same over the index of the pair, beta_fast and beta_slow turns, and queries and
                keys times 0.1 ln(factor) + 1, arXiv 2309.00071
    longrope    theta / short_factor up to the original length, theta / long_factor past it, and
                queries and keys times sqrt(1 + ln(factor) / ln(original)), arXiv 2402.13753

A scaling belongs to the checkpoint: it is built into the scheme, so that nothing can be set too
late. Extensions act on the frequencies that are in force. A base that the config does not give
beside a scaling is refused, not guessed; so are scalings that differ from layer to layer, but for
Gemma 3 (extrap/pretrained/families/gemma.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, inf, log, pi, sqrt
from typing import Any

import torch
from torch import Tensor

from extrap.extensions.by_parts import blend, kept_by_turns
from extrap.extensions.ntk import bloc97
from extrap.model.rotary import Layout, Rotary
from extrap.model.scheme import Scheme, Shape, Where
from extrap.model.spectrum import Pairs, respectrum
from extrap.model.stack import Only, Stack
from extrap.pretrained.plan import Settings
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.rope import RoPE
from extrap.schemes.window import Window
from extrap.utils.errors import UserError

NEEDED = {
    "default": (),
    "linear": ("factor",),
    "dynamic": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
    "yarn": ("factor",),
    "longrope": ("long_factor", "short_factor"),
}
ABOVE_0 = {"rope_theta", "factor", "low_freq_factor", "high_freq_factor", "attention_factor"}
ABOVE_0 |= {"beta_fast", "beta_slow", "original_max_position_embeddings"}
ORIGINAL = "original_max_position_embeddings"
LENGTH = "max_position_embeddings"


class Amplitude(Scheme):
    """Turned channels of queries and keys times a number, as a scaling multiplies cos and sin.

    width: channels of a head that turn, the first ones. Parameters: none.

    Kind: modifier
    Used by: Qwen with YaRN, Phi with LongRoPE
    Past L: defined
    Source: arXiv 2309.00071
    """

    def __init__(self, shape: Shape, by: float, width: int):
        super().__init__(shape)
        self.by = by
        self.width = width

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        return self._scaled(q), self._scaled(k)

    def _scaled(self, x: Tensor) -> Tensor:
        if self.width == x.shape[-1]:
            return x * self.by
        return torch.cat([x[..., : self.width] * self.by, x[..., self.width :]], -1)


@dataclass(frozen=True)
class Scaling:
    """What a config says of its frequencies. length, original: tokens."""

    kind: str
    values: Mapping[str, Any]
    length: int
    original: int

    @property
    def factor(self) -> float:
        """s; a null one stands for the share of the context that the original length is not."""
        given = self.values.get("factor")
        return self.length / self.original if given is None else float(given)

    def theta(self, pairs: Pairs, n: int) -> Tensor:
        """(P,) frequencies of a forward of n tokens; pairs: those of the base."""
        s = self.factor
        if self.kind == "linear":
            return pairs.theta / s
        if self.kind == "dynamic":
            return bloc97(pairs, max(1.0, s * n / self.length - (s - 1)))
        own = Pairs(pairs.theta, pairs.base, self.original)
        if self.kind == "llama3":
            slow, fast = (float(self.values[f"{x}_freq_factor"]) for x in ("low", "high"))
            return blend(pairs.theta, kept_by_turns(own, slow, fast), s)
        if self.kind == "yarn":
            return blend(pairs.theta, self._ramp(own), s)
        if self.kind == "longrope":
            name = "long_factor" if n > self.original else "short_factor"
            return pairs.theta / torch.tensor(self.values[name], dtype=torch.float64)
        return pairs.theta

    def _ramp(self, pairs: Pairs) -> Tensor:
        """(P,) share of each pair that is kept; whole pairs unless `truncate` is false."""

        def at(turns: float) -> float:
            return pairs.width * log(pairs.length / (2 * pi * turns)) / (2 * log(pairs.base))

        low = at(float(self.values.get("beta_fast") or 32))
        high = at(float(self.values.get("beta_slow") or 1))
        if self.values.get("truncate", True):
            low, high = floor(low), ceil(high)
        low, high = max(low, 0), min(high, pairs.width - 1)
        return 1 - ((pairs.index - low) / (high - low or 0.001)).clamp(0, 1)

    @property
    def amplitude(self) -> float:
        """Factor on turned queries and keys, at every length."""
        if self.kind not in ("yarn", "longrope"):
            return 1.0
        given = self.values.get("attention_factor")
        if given is not None:
            return float(given)
        s = self.factor
        if self.kind == "longrope":
            return 1.0 if s <= 1 else sqrt(1 + log(s) / log(self.original))
        parts = self.values.get("mscale"), self.values.get("mscale_all_dim")
        if all(parts):
            return _mscale(s, parts[0]) / _mscale(s, parts[1])
        return _mscale(s, 1.0)


def _mscale(s: float, by: float) -> float:
    return 1.0 if s <= 1 else 0.1 * by * log(s) + 1


def parameters(settings: Settings) -> dict[str, Any]:
    """The entries about the rotation in one dict, as transformers 5 writes them; older files have
    the base beside `rope_scaling`. Raises UserError for what would have to be guessed.
    """
    newer, older = settings.get("rope_parameters", {}), settings.get("rope_scaling", {})
    nested = newer or older
    if not isinstance(nested, Mapping):
        raise settings.refusal("rope_scaling", nested, "a table of options")
    if newer and older and newer != older:
        raise UserError(
            settings.place,
            problem="rope_parameters and rope_scaling both stand in the config and differ",
            remedy="keep one",
        )
    if any(isinstance(value, Mapping) for value in nested.values()):
        raise settings.refusal("rope_parameters", nested, "one rotation for all layers")
    found = dict(nested)
    kind = found.get("rope_type", found.get("type", "default"))
    found["rope_type"] = {"su": "longrope", None: "default"}.get(kind, kind)
    if found["rope_type"] not in NEEDED:
        raise settings.refusal("rope_type", kind, "one of " + ", ".join(NEEDED))
    for name, *older in (
        ("rope_theta", "rotary_emb_base"),
        ("partial_rotary_factor", "rotary_pct"),
    ):
        for entry in (name, *older):
            if found.get(name) is None and settings.get(entry) is not None:
                found[name] = settings.get(entry)
    if found.get("rope_theta") is None:
        if found["rope_type"] != "default":
            raise UserError(
                settings.place,
                problem=f"rope_type={found['rope_type']} without rope_theta",
                remedy=("transformers would take 10000 silently; write the base into the config"),
            )
        found["rope_theta"] = 10000.0
    for name in NEEDED[found["rope_type"]]:
        if found.get(name) is None and not (name == "factor" and found["rope_type"] == "yarn"):
            raise UserError(
                settings.place,
                problem=f"rope_type={found['rope_type']} needs {name}, which is missing",
            )
    for name in ABOVE_0 & {*found}:
        if found[name] is not None and not _above_0(found[name]):
            raise settings.refusal(name, found[name], "a number above 0")
    for name in {"long_factor", "short_factor"} & {*found}:
        values = found[name]
        if values is not None and not (isinstance(values, list) and all(map(_above_0, values))):
            raise settings.refusal(name, values, "a list of numbers above 0")
    return found


def _above_0(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 < value < inf


def scaling(settings: Settings) -> Scaling:
    values = parameters(settings)
    length = settings.size(LENGTH)
    inner, outer = values.get(ORIGINAL), settings.get(ORIGINAL)
    if inner and outer and inner != outer:
        raise settings.refusal(ORIGINAL, outer, f"{inner}, as beside the scaling,")
    original = inner or outer or length
    return Scaling(values["rope_type"], values, length, int(original))


def turning(settings: Settings, shape: Shape, layout: Layout = "half") -> Scheme:
    """The rotation in force, with the windows of the layers that have one."""
    parts = rotation(settings, shape, layout)
    layers, window = windowed(settings, shape.layers)
    if len(layers) == shape.layers:
        parts.append(Window(shape, window))
    elif layers:
        parts.append(Only(shape, Window(shape, window), layers))
    return parts[0] if len(parts) == 1 else Stack(shape, parts)


def rotation(settings: Settings, shape: Shape, layout: Layout = "half") -> list[Scheme]:
    """The parts that turn queries and keys."""
    values, own = parameters(settings), scaling(settings)
    fraction = float(values.get("partial_rotary_factor") or 1.0)
    base = float(values["rope_theta"])
    rotary: Rotary
    if fraction == 1.0:
        rotary = RoPE(shape, base, layout)
        width = shape.head_dim
    else:
        rotary = PartialRoPE(shape, base, fraction, layout)
        width = rotary.width
    if own.kind != "default":
        rotary = respectrum(rotary, own.theta)  # type: ignore[assignment]
    parts: list[Scheme] = [rotary]
    if own.amplitude != 1.0:
        parts.append(Amplitude(shape, own.amplitude, width))
    return parts


def windowed(settings: Settings, layers: int) -> tuple[list[int], int]:
    """Layers that see a window, and its width; none where the config does not switch it on."""
    window = settings.get("sliding_window")
    if window is None or not settings.values.get("use_sliding_window", True):
        return [], 0
    width = settings.size("sliding_window")
    kinds = settings.get("layer_types")
    if kinds is not None:
        known = ("sliding_attention", "full_attention")
        if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
            raise settings.refusal("layer_types", kinds, "a list of words")
        if len(kinds) != layers or not set(kinds) <= set(known):
            shown = ", ".join(map(str, dict.fromkeys(kinds)))
            allowed = f"{layers} times one of {', '.join(known)}"
            raise settings.refusal("layer_types", f"{len(kinds)} times {shown}", allowed)
        return [n for n, kind in enumerate(kinds) if kind == "sliding_attention"], width
    first = settings.get("max_window_layers", 0) and settings.size("max_window_layers")
    return list(range(first, layers)), width
