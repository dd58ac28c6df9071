"""An extension in place while a model is tuned: set for the train factor, around parameters that
are found again afterwards.
"""

from collections.abc import Mapping
from typing import Any

from torch import nn

from extrap.extensions.base import Extension


def own_factor(extension: Extension, length: int) -> float | None:
    """What an extension is set for; None where it follows the length of the text."""
    factor = extension.effective(length, length)
    return factor if extension.effective(1000 * length, length) == factor else None


def with_factor(options: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """The options of an extension with another factor, those of extensions inside it too."""
    set_for = {"factor": factor} if options.get("factor") is not None else {}
    return {
        key: with_factor(value, factor) if isinstance(value, Mapping) else value
        for key, value in options.items()
    } | set_for


class Shared(nn.Parameter):
    """A parameter that copies of a model have in common."""

    def __deepcopy__(self, memo: dict) -> "Shared":
        return self


def shared(model: nn.Module) -> dict[int, str]:
    """Makes the parameters of a model such, in place; their names by id.

    Extensions work on copies, in which parameters of the scheme may have moved into a stack: this
    is how they are found again.
    """
    for module in model.modules():
        for name, p in list(module.named_parameters(recurse=False)):
            setattr(module, name, Shared(p.data, p.requires_grad))
    return {id(p): name for name, p in model.named_parameters()}
