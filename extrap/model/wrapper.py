"""A scheme around another one. What wraps changes some hooks; the others are those of the scheme
inside.
"""

from abc import abstractmethod
from typing import Any

from torch import Tensor

from extrap.model.scheme import HOOKS, Scheme, layer_of


class Wrapper(Scheme):
    """A scheme whose every hook is that of `inside`, or of `in_layer` where that differs."""

    @property
    @abstractmethod
    def inside(self) -> Scheme:
        """The scheme that is wrapped."""

    def in_layer(self, layer: int | None) -> Scheme:
        """The scheme whose hooks these are in one layer; None where a hook serves all layers."""
        return self.inside

    def stretch(self, n: int) -> float | None:
        """What distances are to the scheme inside, in a forward of n tokens: so many times what
        they are here; None where that is not one number for all pairs.
        """
        return 1.0

    @property
    def limit(self) -> float:  # type: ignore[override]
        return self.inside.limit

    @property
    def scale(self) -> float:
        return self.inside.scale

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        return self.in_layer(layer).uses(*hooks, layer=layer)


def _of_inside(name: str) -> Any:
    """The method of Wrapper that passes a hook on."""

    def hook(self: Wrapper, *args: Any) -> Tensor | tuple[Tensor, Tensor] | None:
        return getattr(self.in_layer(layer_of(*args)), name)(*args)

    return hook


for _name in HOOKS:
    setattr(Wrapper, _name, _of_inside(_name))
