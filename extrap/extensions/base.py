"""An extension makes a trained model read further: model -> reader, after the weights are loaded.

It adds a part to the stack, wraps the spectrum or the scheme, wraps the reader, or changes weights;
the original model stays as it was. Inside the training window it equals the plain model where the
method says so; outside it is finite and different.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Literal

from torch import Tensor

from extrap.extensions.effect import check_changes
from extrap.extensions.layers import InLayers, global_layers
from extrap.model.card import describe_parts
from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme
from extrap.model.stack import Only, Stack
from extrap.utils.errors import NotApplicable

Reader = Callable[..., Tensor]
"""model(tokens (B, T), last=w) -> logits (B, w, vocab)."""


class Extension(ABC):
    """factor: s, how many times the training length L the method is set for. None: adaptive, s =
    max(1, T / L) in each forward.

    1 where a method has no such number. The training length is model.scheme.shape.length. Options
    are constructor arguments, the keys of a YAML in conf/extension; those that make no sense raise
    ValueError as in schemes.
    """

    factor: float | None = 1.0
    tuned_at: float | None = None
    """Windows that it is tuned on, in training lengths, whatever its factor; None: as many as its
    factor.
    """

    @abstractmethod
    def __call__(self, model: GPT) -> Reader:
        """The extended model; `model` stays as it was. Raises NotApplicable on a scheme where it
        would do nothing.

        Called on a model without storage (device meta) as well, to find out whether it applies.
        """

    def effective(self, n: int, length: int) -> float:
        """The factor in force in a forward of n tokens, `length` being the training length. Rows
        carry it.
        """
        return max(1.0, n / length) if self.factor is None else self.factor

    def refuse(self, scheme: Scheme, why: str) -> NotApplicable:
        """The exception to raise: one line that names both."""
        return NotApplicable(f"{type(self).__name__} on {describe_parts(scheme)}: {why}")


class SchemeExtension(Extension):
    """An extension that puts another scheme around the same weights; most do.

    layers: those of a mixed stack that it acts on, `global` (the rule of layers.py) or `all`. One
    that changes nothing is refused, whatever it is.
    """

    layers: Literal["global", "all"] = "global"

    @abstractmethod
    def extend(self, scheme: Scheme) -> Scheme:
        """The scheme to read with. `scheme` is a copy and may be built upon; a ValueError (of a
        Stack, say) counts as a refusal.
        """

    def __call__(self, model: GPT) -> GPT:
        try:
            scheme = self.applied(deepcopy(model.scheme))
            check_changes(model.scheme, scheme)
        except ValueError as error:
            raise self.refuse(model.scheme, str(error)) from error
        return with_scheme(model, scheme)

    def acts_on(self, scheme: Scheme) -> set[int]:
        """The layers to extend. Raises ValueError where there is none."""
        return set(range(scheme.shape.layers)) if self.layers == "all" else global_layers(scheme)

    def applied(self, scheme: Scheme) -> Scheme:
        """`scheme`, a copy, extended in the layers that this acts on and as it is in the others."""
        layers = self.acts_on(scheme)
        if len(layers) == scheme.shape.layers:
            return self.extend(scheme)
        plain = deepcopy(scheme, {id(p): p for p in scheme.parameters()})
        return InLayers(plain, self.extend_layers(scheme), layers)

    def extend_layers(self, scheme: Scheme) -> Scheme:
        """As extend, for some layers alone: coordinates, which all layers share, stay
        as they are.
        """
        return self.extend(scheme)


def with_scheme(model: GPT, scheme: Scheme) -> GPT:
    """A copy of the model that owns `scheme` instead of its own; its weights are copies too."""
    return deepcopy(model, {id(model.scheme): scheme}).train(model.training)


def replace_parts(
    scheme: Scheme, test: Callable[[Scheme], bool], make: Callable[[Any], Scheme]
) -> Scheme:
    """Returns the scheme with make(part) in place of every single part that passes the test."""
    return scheme.mapped(lambda part: make(part) if test(part) else part)


def with_parts(scheme: Scheme, *more: Scheme) -> Scheme:
    """The scheme with more parts after its own, which are absent in layers whose attention one part
    owns altogether. Raises ValueError where they do not go together.
    """
    own = scheme.parts if isinstance(scheme, Stack) else [scheme]
    every = range(scheme.shape.layers)
    free = [layer for layer in every if not scheme.uses("attend", layer=layer)]
    if 0 < len(free) < len(every):
        more = tuple(p if p.uses("positions") else Only(p.shape, p, free) for p in more)
    return Stack(scheme.shape, [*own, *more])


LARGEST = 1_000_000
"""A factor that no text is long enough for: past it numbers overflow."""


def check_factor(factor: float | None) -> None:
    """Raises ValueError for a factor below 1 or above LARGEST."""
    if factor is not None and not 1 <= factor <= LARGEST:
        raise ValueError(f"factor={factor}: from 1 to {LARGEST}, or null for T / L of each text")
