"""What a family makes of a config.json: the options of a GPT, its scheme, and which tensor goes
where.

A family reads the config through Settings and the weights through Tensors: what it does not ask for
stays behind and is refused by name, and so is a value that the GPT has no form for.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Shape
from extrap.utils.errors import UserError

ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "relu": "relu",
}
"""Names of activations in config.json, and in the GPT."""


class Source(Protocol):
    """Named tensors on the disk."""

    def names(self) -> Iterable[str]: ...

    def read(self, name: str) -> Tensor: ...


@dataclass(frozen=True)
class Plan:
    """A checkpoint in the words of the GPT.

    options: of the GPT. length: tokens of context that it was trained for; None where the config
    does not say. scheme: what positions do, for a shape. weights: the state dict of the GPT.
    """

    options: dict[str, Any]
    vocab: int
    length: int | None
    scheme: Callable[[Shape], Scheme]
    weights: Callable[["Tensors"], dict[str, Tensor]]


class Settings:
    """The plain values of a config.json. Raises UserError, naming the file and the entry."""

    def __init__(self, values: Mapping[str, Any], place: str):
        self.values = values
        self.place = place

    def get(self, name: str, default: Any = None) -> Any:
        """An entry; the default where it is missing or null."""
        value = self.values.get(name)
        return default if value is None else value

    def size(self, *names: str, default: int | None = None) -> int:
        """A whole number above 0 under the first of these names that is there."""
        for name in names:
            value = self.values.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise self.refusal(name, value, "a whole number above 0")
            return value
        if default is None:
            raise UserError(self.place, problem=f"{names[0]} is missing, which the model needs")
        return default

    def number(self, name: str, default: float) -> float:
        value = self.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refusal(name, value, "a number")
        return float(value)

    def one_of(self, name: str, known: Mapping[str, str], default: str) -> str:
        """What a word stands for in the GPT."""
        value = self.get(name, default)
        if not isinstance(value, str) or value not in known:
            raise self.refusal(name, value, "one of " + ", ".join(known))
        return known[value]

    def only(self, name: str, *allowed: Any) -> None:
        """Raises UserError for a value that the GPT has no form for; missing and null are fine."""
        value = self.values.get(name)
        if value is not None and value not in allowed:
            raise self.refusal(name, value, " or ".join(map(str, allowed)) or "null")

    def refusal(self, name: str, value: Any, allowed: str) -> UserError:
        shown = str(value)[:80]
        return UserError(
            self.place, problem=f"{name}={shown} is not supported", remedy=f"{allowed} is"
        )


class Tensors:
    """The tensors of a checkpoint, each read once. Raises UserError for one that is missing, of
    another shape, or left over at the end.
    """

    def __init__(self, source: Source, place: str, prefix: str = ""):
        self.source = source
        self.place = place
        self.prefix = prefix
        self.left = set(source.names())

    def inside(self, prefix: str) -> "Tensors":
        """The same tensors, whose names begin with a prefix where any of them does."""
        if any(name.startswith(prefix) for name in self.left):
            self.prefix = prefix
        return self

    def has(self, name: str) -> bool:
        return self.prefix + name in self.left

    def take(self, name: str, *shape: int) -> Tensor:
        whole = self.prefix + name
        if whole not in self.left:
            raise UserError(self.place, problem=f"tensor {whole} is missing")
        self.left.discard(whole)
        tensor = self.source.read(whole)
        if tuple(tensor.shape) != shape:
            found = " x ".join(map(str, tensor.shape))
            needed = " x ".join(map(str, shape))
            raise UserError(self.place, problem=f"tensor {whole} is {found}, not {needed}")
        return tensor

    def bare(self, name: str, *shape: int) -> Tensor:
        """A tensor that has no prefix, such as that of the head."""
        prefix, self.prefix = self.prefix, ""
        try:
            return self.take(name, *shape)
        finally:
            self.prefix = prefix

    def drop(self, *ends: str) -> None:
        """Leaves buffers that hold no weights, by the ends of their names."""
        self.left = {name for name in self.left if not name.endswith(ends)}

    def drop_copy(self, name: str, of: Tensor) -> None:
        """Leaves the matrix of a tied head, which a file may hold beside the embedding. Raises
        UserError where it is another one: the config then says what the file does not.
        """
        if name in self.left and not torch.equal(self.bare(name, *of.shape).to(of.dtype), of):
            raise UserError(
                self.place,
                problem=(
                    f"tensor {name} is not the embedding, though by tie_word_embeddings, or "
                    "without it, the config says so"
                ),
                remedy="write tie_word_embeddings: false into the config",
            )

    def finish(self) -> None:
        if self.left:
            some = ", ".join(sorted(self.left)[:3])
            raise UserError(
                self.place,
                problem=f"{len(self.left)} tensors that the family does not have: {some}",
            )
