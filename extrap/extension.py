"""An extension makes a trained model read further: model -> model, after the weights are loaded.

It adds a part to the stack, wraps the spectrum or the scheme, or wraps the reader; the original model stays untouched.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

from torch import Tensor

from extrap.gpt import GPT

Reader = Callable[..., Tensor]


class Extension(ABC):
    """factor: how many times the training length it is meant for, written into every row."""

    factor: float = 1.0

    @abstractmethod
    def __call__(self, model: GPT) -> Reader:
        """A callable like `model(tokens, last=w)`. Raises UserError naming extension and scheme where it would do nothing."""
