"""Schemes compose: Stack([]) is NoPE, Stack([s]) is s. A stack is a YAML file and no code."""

import re
import warnings
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, cast

from torch import nn

from extrap.model.parts import describe_parts, has
from extrap.model.scheme import HOOKS, Hook, Scheme, Shape, layer_of
from extrap.model.wrapper import Wrapper

INSIDE = tuple(name for name, hook in HOOKS.items() if hook.inside)


class Stack(Scheme):
    """Parts that act together, hook by hook as HOOKS of model/scheme.py says.

    Args:
        parts: the schemes, in the order in which they act

    Raises ValueError if, in one layer, two parts own a hook that has one owner; two turn pairs of
    channels (a second RoPE would turn them twice); one widens queries and keys that another meets
    with vectors of D channels; or one owns attention and another acts in it. Raises ValueError if
    two parts set a scale, which holds in all layers.
    """

    def __init__(self, shape: Shape, parts: Sequence[Scheme]):
        super().__init__(shape)
        self.parts = cast("Sequence[Scheme]", nn.ModuleList(parts))
        default = Scheme(shape).scale
        scaling = [p for p in parts if p.scale != default]
        _one("set the scale of the logits", scaling)
        for layer in range(shape.layers):
            self._check(parts, layer)

    @staticmethod
    def _check(parts: Sequence[Scheme], layer: int) -> None:
        def using(*hooks: str) -> list[Scheme]:
            return [p for p in parts if p.uses(*hooks, layer=layer)]

        def flagged(flag: str) -> list[Scheme]:
            return [p for p in parts if has(p, flag, layer)]

        for name, hook in HOOKS.items():
            if hook.meet == "owner":
                _one(f"own {name}", using(name))
        _one("turn logits into weights", using("sink", "normalise"))
        _one("rotate by phase", flagged("by_phase"))
        if wider := flagged("widens"):
            narrow = flagged("own_vectors")
            _one("meet queries and keys, at widths that differ", [*wider, *narrow])
        if using("attend"):
            inside = using("attend", *INSIDE)
            _one("act in attention, which one of them owns altogether", inside)

    def inner(self, layer: int | None = None) -> list[Scheme]:
        return list(self.parts)

    def mapped(self, change: Callable[[Scheme], Scheme]) -> Scheme:
        mapped = [part.mapped(change) for part in self.parts]
        return Stack(self.shape, mapped)

    @property
    def limit(self) -> float:  # type: ignore[override]
        return min([Scheme.limit, *(p.limit for p in self.parts)])

    @property
    def scale(self) -> float:
        default = self.shape.head_dim**-0.5
        for part in self.parts:
            if part.scale != default:
                return part.scale
        return default

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        return any(p.uses(*hooks, layer=layer) for p in self.parts)


def _met(name: str, hook: Hook) -> Any:
    """Returns the method of Stack in which its parts meet."""

    def chain(self: Stack, *args: Any) -> Any:
        last = len(args) if name == "positions" else -1
        state = args[:last]
        at = args[last:]
        for part in self.parts:
            out = getattr(part, name)(*state, *at)
            state = cast("tuple[Any, ...]", out if isinstance(out, tuple) else (out,))
        if len(state) == 1:
            return state[0]
        return state

    def owner(self: Stack, *args: Any) -> Any:
        layer = layer_of(*args)
        for part in self.parts:
            if part.uses(name, layer=layer):
                return getattr(part, name)(*args)
        return getattr(Scheme, name)(self, *args)

    def joined(self: Stack, *args: Any) -> Any:
        values = [getattr(part, name)(*args) for part in self.parts]
        present = [value for value in values if value is not None]
        if not present:
            return None
        meet = cast("Callable[[Any, Any], Any]", hook.meet)
        return reduce(meet, present)

    if hook.meet == "chain":
        return chain
    if hook.meet == "owner":
        return owner
    return joined


for _name, _hook in HOOKS.items():
    setattr(Stack, _name, _met(_name, _hook))


class InLayers(Wrapper):
    """`part` in some layers and `plain` in the others. All layers have the coordinates of
    `part`."""

    def __init__(self, plain: Scheme, part: Scheme, layers: set[int]):
        super().__init__(plain.shape)
        self.plain = plain
        self.part = part
        self.layers = layers

    def mapped(self, change: Callable[[Scheme], Scheme]) -> Scheme:
        self.plain = self.plain.mapped(change)
        return super().mapped(change)

    @property
    def limit(self) -> float:
        somewhere = self.part if self.layers else self.plain
        return somewhere.limit

    def in_layer(self, layer: int | None) -> Scheme:
        if layer is None or layer in self.layers:
            return self.part
        return self.plain

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        if layer is not None:
            return self.in_layer(layer).uses(*hooks, layer=layer)
        if self.layers and self.part.uses(*hooks):
            return True
        return self.plain.uses(*hooks)


class Only(InLayers):
    """A part that acts in some layers and is absent in the others: mixed layouts such as HWFA are
    YAML files.

    Args:
        layers: indices, negative ones from the last layer on; or a pattern that follows the depth
            of the model: a range in Python's notation ('0:-1' all but the last, '3::4' every
            fourth), 'every 4' for the same as '3::4', or 'not' before either for all other layers

    Warns if a pattern picks no layer of the model. Raises ValueError for a layer that does not
    exist, and for a part that acts on all layers at once: it moves coordinates or changes the
    scale.
    """

    def __init__(self, shape: Shape, part: Scheme, layers: list[int] | str):
        nope = Scheme(shape)
        super().__init__(nope, part, layer_pattern(layers, shape.layers))
        if part.uses("positions") or part.scale != nope.scale:
            raise ValueError(f"{describe_parts(part)} cannot be limited to some layers")
        others = [hook for hook in HOOKS if hook != "embed"]
        embeds_alone = part.uses("embed") and not part.uses(*others)
        if embeds_alone and self.layers and 0 not in self.layers:
            raise ValueError(
                f"layers={layers}: {describe_parts(part)} is added to tokens in front of layer 0, "
                "which is not among them"
            )
        if not self.layers:
            warnings.warn(
                f"layers={layers}: none of the {shape.layers} layers of this model, so "
                f"{describe_parts(part)} acts nowhere; give another pattern or a deeper model",
                stacklevel=2,
            )

    def mapped(self, change: Callable[[Scheme], Scheme]) -> Scheme:
        part = self.part.mapped(change)
        return Only(self.shape, part, sorted(self.layers))


def layer_pattern(layers: list[int] | str, count: int) -> set[int]:
    """Returns the indices that a pattern of Only picks among `count` layers, from 0 on."""
    if not isinstance(layers, str):
        if wrong := [n for n in layers if not -count <= n < count]:
            raise ValueError(f"layers={wrong}: the model has layers 0 to {count - 1}")
        return {n % count for n in layers}
    every_layer = range(count)
    pattern = layers.removeprefix("not ")
    if every := re.fullmatch(r"every ([1-9]\d*)", pattern):
        step = int(every[1])
        picked = set(every_layer[step - 1 :: step])
    elif re.fullmatch(r"(-?\d+)?:(-?\d+)?(:[1-9]\d*)?", pattern):
        ends = [int(n) if n else None for n in pattern.split(":")]
        picked = set(every_layer[slice(*ends)])
    else:
        raise ValueError(
            f"layers={layers}: give indices, a range such as 0:-1 or 3::4, every 4, or not before "
            "a range"
        )
    if pattern == layers:
        return picked
    return set(every_layer) - picked


def _one(what: str, parts: list[Scheme]) -> None:
    """Raises ValueError for several parts where a layer takes one."""
    if len(parts) > 1:
        names = " and ".join(describe_parts(p) for p in parts)
        raise ValueError(f"{names} both {what}; keep one of them")
