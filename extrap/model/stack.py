"""Schemes compose: Stack([]) is NoPE, Stack([s]) is s. A stack is a YAML file and no code."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor, nn

from extrap.model.scheme import Scheme, Shape, Where

ATTENTION = ("rotate", "sees", "temperature", "score", "distance_bias", "bias", "sink", "mix")
ONE_OWNER = ("score", "sink", "mix", "attend")


class Stack(Scheme):
    """Parts act together: what folds is folded in order, what adds is added, what has one owner is checked to have one.

    Raises ValueError where two parts own score, sink, mix, attend or a scale, where two rotate by phase (a second RoPE would
    turn twice), and where a part that owns attention altogether meets another that acts in it.
    """

    def __init__(self, shape: Shape, parts: Sequence[Scheme]):
        super().__init__(shape)
        self.parts = nn.ModuleList(parts)
        for hook in ONE_OWNER:
            _one(f"own {hook}", [p for p in parts if p.uses(hook)])
        _one("set the scale of the logits", [p for p in parts if p.scale != Scheme(shape).scale])
        _one("rotate by phase", [p for p in parts if p.uses("rotate") and hasattr(p, "spectrum")])
        if any(p.uses("attend") for p in parts):
            _one("act in attention, which one of them owns altogether", [p for p in parts if p.uses("attend", *ATTENTION)])

    @property
    def limit(self) -> float:  # type: ignore[override]
        return min((p.limit for p in self.parts), default=Scheme.limit)

    @property
    def scale(self) -> float:
        default = super().scale
        return next((p.scale for p in self.parts if p.scale != default), default)

    def uses(self, *hooks: str) -> bool:
        return any(p.uses(*hooks) for p in self.parts)

    def positions(self, t: Tensor) -> Tensor:
        for p in self.parts:
            t = p.positions(t)
        return t

    def embed(self, x: Tensor, at: Where) -> Tensor:
        for p in self.parts:
            x = p.embed(x, at)
        return x

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        for p in self.parts:
            q, k = p.rotate(q, k, at)
        return q, k

    def sees(self, at: Where) -> Tensor | None:
        return _fold((p.sees(at) for p in self.parts), lambda a, b: a & b)

    def temperature(self, at: Where) -> Tensor | None:
        return _fold((p.temperature(at) for p in self.parts), lambda a, b: a * b)

    def distance_bias(self, d: Tensor, layer: int) -> Tensor | None:
        return _fold((p.distance_bias(d, layer) for p in self.parts), lambda a, b: a + b)

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor | None:
        return _fold((p.bias(q, k, at) for p in self.parts), lambda a, b: a + b)

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        return self._owner("score").score(q, k, at)

    def sink(self, at: Where) -> Tensor | None:
        return self._owner("sink").sink(at)

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        return self._owner("mix").mix(a, v, at)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
        owner = next((p for p in self.parts if p.uses("attend")), None)
        return super().attend(q, k, v, at) if owner is None else owner.attend(q, k, v, at)

    def _owner(self, hook: str) -> Scheme:
        return next((p for p in self.parts if p.uses(hook)), Scheme(self.shape))


class Only(Scheme):
    """A part that acts in some layers and is absent in the others, which makes mixed layouts such as HWFA a YAML file.

    layers: indices, negative ones count from the last layer, or a range in Python's notation ("0:-1" is all but the last).
    Raises ValueError for a layer that does not exist and for a part whose effect cannot be confined to a layer (it moves
    coordinates, changes the scale or owns attention).
    """

    def __init__(self, shape: Shape, part: Scheme, layers: list[int] | str):
        super().__init__(shape)
        layers = _layers(layers, shape.layers)
        if wrong := [n for n in layers if not -shape.layers <= n < shape.layers]:
            raise ValueError(f"layers={wrong}: the model has layers 0 to {shape.layers - 1}")
        if part.uses("positions", "attend") or part.scale != self.scale:
            raise ValueError(f"{type(part).__name__} cannot be limited to some layers")
        self.part = part
        self.layers = {n % shape.layers for n in layers}

    @property
    def limit(self) -> float:  # type: ignore[override]
        return self.part.limit

    def uses(self, *hooks: str) -> bool:
        return self.part.uses(*hooks)

    def __getattr__(self, name: str) -> Any:
        if name == "spectrum":
            return getattr(self.part, name)
        return super().__getattr__(name)

    def _who(self, layer: int) -> Scheme:
        return self.part if layer in self.layers else Scheme(self.shape)

    def embed(self, x: Tensor, at: Where) -> Tensor:
        return self._who(at.layer).embed(x, at)

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        return self._who(at.layer).rotate(q, k, at)

    def sees(self, at: Where) -> Tensor | None:
        return self._who(at.layer).sees(at)

    def temperature(self, at: Where) -> Tensor | None:
        return self._who(at.layer).temperature(at)

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        return self._who(at.layer).score(q, k, at)

    def distance_bias(self, d: Tensor, layer: int) -> Tensor | None:
        return self._who(layer).distance_bias(d, layer)

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor | None:
        return self._who(at.layer).bias(q, k, at)

    def sink(self, at: Where) -> Tensor | None:
        return self._who(at.layer).sink(at)

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        return self._who(at.layer).mix(a, v, at)


def _layers(layers: list[int] | str, count: int) -> list[int]:
    if not isinstance(layers, str):
        return layers
    if not re.fullmatch(r"(-?\d+)?:(-?\d+)?", layers):
        raise ValueError(f"layers={layers}: give indices, or a range such as 0:-1")
    first, last = (int(n) if n else None for n in layers.split(":"))
    return list(range(count)[first:last])


def _one(what: str, parts: list[Scheme]) -> None:
    if len(parts) > 1:
        raise ValueError(f"{' and '.join(type(p).__name__ for p in parts)} both {what}; keep one of them")


def _fold(values: Any, join: Callable[[Tensor, Tensor], Tensor]) -> Tensor | None:
    total = None
    for value in values:
        if value is not None:
            total = value if total is None else join(total, value)
    return total
