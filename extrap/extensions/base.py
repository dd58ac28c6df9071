"""An extension makes a trained model usable beyond its training length: model -> reader.

It adds a part to the stack, wraps the spectrum, the scheme or the reader, or changes weights of a
copy; the original model stays as it was. Past the training length the reader's logits are finite
and differ from the logits of the plain model. Within it, each method says whether they are equal.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Literal

from torch import Tensor

from extrap.extensions.layers import global_layers
from extrap.model.parts import describe_parts, parts
from extrap.model.scheme import Scheme
from extrap.model.stack import InLayers, Only, Stack
from extrap.utils.errors import NotApplicable, UserError
from extrap.utils.plugins import defined_at, other_arguments

if TYPE_CHECKING:
    from extrap.model.gpt import GPT

Reader = Callable[..., Tensor]
"""model(tokens (B, T), last=w) -> logits (B, w, vocab)."""


class Extension(ABC):
    """A method that makes a trained model usable beyond its training length.

    Args:
        factor: s, the length it is set for, in training lengths L; null: adaptive, s = max(1, T /
            L) in each forward; 1 if the method has no factor

    L is model.scheme.shape.length. Options are constructor arguments, the keys of a YAML in
    conf/extension; the constructor raises ValueError for senseless ones.
    """

    factor: float | None = 1.0
    tuned_at: float | None = None
    """Length of the windows for tuning, in training lengths; None: the factor."""
    looks_ahead = False
    """Whether a reader that is no GPT gives logits of a token that depend on later ones; a GPT has
    a scheme that says so.
    """

    @abstractmethod
    def __call__(self, model: "GPT") -> Reader:
        """Returns the extended model; `model` stays as it was. Raises NotApplicable for a scheme
        that it would not change.

        extrap also calls it on a model without storage (device meta), to see whether it applies.
        """

    def effective(self, n: int, length: int) -> float:
        """Returns the factor of a forward of n tokens, which rows record; length: L."""
        if self.factor is None:
            return max(1.0, n / length)
        return self.factor

    def refuse(self, scheme: Scheme, why: str) -> NotApplicable:
        """Returns the exception to raise: one line that names extension and scheme."""
        return NotApplicable(f"{type(self).__name__} on {describe_parts(scheme)}: {why}")


class SchemeExtension(Extension):
    """An extension that gives the same weights another scheme, as most do.

    Args:
        layers: layers of a mixed stack on which it acts, `global` (the rule of layers.py) or `all`

    Raises NotApplicable for every scheme that it would not change.
    """

    layers: Literal["global", "all"] = "global"

    @abstractmethod
    def extend(self, scheme: Scheme) -> Scheme:
        """Returns the extended scheme. `scheme` is a copy, which it may change. Raises ValueError,
        which becomes NotApplicable, for a scheme that it would not change.
        """

    def __call__(self, model: "GPT") -> "GPT":
        from extrap.extensions.probe import check_changes  # loads the GPT

        try:
            scheme = self.applied(deepcopy(model.scheme))
            check_changes(model.scheme, scheme)
        except ValueError as error:
            raise self.refuse(model.scheme, str(error)) from error
        # a copy of the model, weights included, with this scheme in place of its own
        return deepcopy(model, {id(model.scheme): scheme}).train(model.training)

    def acts_on(self, scheme: Scheme) -> set[int]:
        """Returns the layers to extend. Raises ValueError if there are none."""
        if self.layers == "all":
            return set(range(scheme.shape.layers))
        return global_layers(scheme)

    def applied(self, scheme: Scheme) -> Scheme:
        """Returns `scheme`, a copy, extended in the layers to extend and plain in the others."""
        layers = self.acts_on(scheme)
        plain = None
        if len(layers) == scheme.shape.layers:
            extended = self.extend(scheme)
        else:
            shared = {id(p): p for p in scheme.parameters()}
            plain = deepcopy(scheme, shared)
            extended = self.extend_layers(scheme)
        if not isinstance(extended, Scheme):
            problem = f"extend{defined_at(self.extend)} returned {type(extended).__name__}"
            raise UserError("extension", type(self).__name__, problem, "return the extended scheme")
        for part in parts(extended):
            if problem := other_arguments(type(part)):
                raise UserError("extension", type(self).__name__, problem, "take these arguments")
        if plain is None:
            return extended
        return InLayers(plain, extended, layers)

    def extend_layers(self, scheme: Scheme) -> Scheme:
        """Extends some layers alone, so that coordinates, which all layers share, stay the same."""
        return self.extend(scheme)


def replace_parts(
    scheme: Scheme, test: Callable[[Scheme], bool], make: Callable[[Any], Scheme]
) -> Scheme:
    """Returns the scheme with make(part) in place of every single part that passes the test."""

    def change(part: Scheme) -> Scheme:
        return make(part) if test(part) else part

    return scheme.mapped(change)


def with_parts(scheme: Scheme, *more: Scheme) -> Scheme:
    """Returns the scheme with more parts after its own. They are absent in layers whose attention
    one part owns. Raises ValueError for parts that do not go together.
    """
    own = scheme.parts if isinstance(scheme, Stack) else [scheme]
    every = range(scheme.shape.layers)
    free = [layer for layer in every if not scheme.uses("attend", layer=layer)]
    added = []
    for part in more:
        everywhere = len(free) in (0, len(every)) or part.uses("positions")
        added.append(part if everywhere else Only(part.shape, part, free))
    return Stack(scheme.shape, [*own, *added])
