"""A scheme around another one: it changes some hooks and passes the others on."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from extrap.model.scheme import HOOKS, Scheme, layer_of


class Wrapper(Scheme):
    """A scheme that hands every hook to the scheme inside.

    Args:
        part: the scheme inside; a subclass sets it, or overrides `in_layer`
    """

    part: Scheme

    def in_layer(self, layer: int | None) -> Scheme:
        """Returns the scheme that acts in one layer; None stands for hooks of all layers."""
        return self.part

    def inner(self, layer: int | None = None) -> list[Scheme]:
        return [self.in_layer(layer)]

    def mapped(self, change: Callable[[Scheme], Scheme]) -> Scheme:
        if self.sealed:
            return change(self)
        self.part = self.part.mapped(change)
        return self

    @property
    def limit(self) -> float:  # type: ignore[override]
        return self.in_layer(None).limit

    @property
    def scale(self) -> float:
        return self.in_layer(None).scale

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        inside = self.in_layer(layer)
        return inside.uses(*hooks, layer=layer)


def _of_inside(name: str) -> Any:
    """Returns the method of Wrapper that passes a hook on."""

    def hook(self: Wrapper, *args: Any) -> Tensor | tuple[Tensor, Tensor] | None:
        inside = self.in_layer(layer_of(*args))
        return getattr(inside, name)(*args)

    return hook


for _name in HOOKS:
    setattr(Wrapper, _name, _of_inside(_name))


class Rescored(Wrapper):
    """A wrapper that makes logits of its own. Layers whose attention one part owns altogether have
    no logits: they stay as they are.
    """

    taken: frozenset[str] = frozenset()
    """Hooks of the scheme inside that this one calls itself, so that no kernel meets them."""

    def own(self, layer: int | None) -> set[str]:
        """Returns the hooks that this wrapper overrides in a layer."""
        return {"score"}

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        if layer is not None and self.part.uses("attend", layer=layer):
            return self.part.uses(*hooks, layer=layer)
        if self.own(layer) & set(hooks):
            return True
        passed_on = set(hooks) - self.taken
        return self.part.uses(*passed_on, layer=layer)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, at: Any) -> Tensor:
        if self.part.uses("attend", layer=at.layer):
            return self.part.attend(q, k, v, at)
        return Scheme.attend(self, q, k, v, at)
