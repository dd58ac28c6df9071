"""A task measures a model and returns rows. It knows the model as a callable and nothing of how it is built.

    model(tokens, last=w) -> logits (B, w, vocab)      tokens (B, T) int64 on the CPU; logits may lie on any device

`last` asks for the logits of the last w positions only, so that a long context never costs T x vocab numbers.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor

from extrap.utils.errors import UserError

Model = Callable[..., Tensor]
Progress = Callable[[int, int], Any]


@dataclass
class Result:
    """rows: dicts in the columns of the results schema; items: the per-document or per-trial scores behind them."""

    rows: list[dict] = field(default_factory=list)
    items: list[dict] = field(default_factory=list)


class Task(ABC):
    """Parameters are constructor arguments, the keys of its YAML in conf/task. Lengths are multiples of the training length."""

    @abstractmethod
    def check(self, corpus, vocabulary, train_length: int) -> None:
        """Raises UserError, naming the option, for anything that would make `run` fail. Nothing is measured here."""

    @abstractmethod
    def run(self, model: Model, corpus, vocabulary, train_length: int, progress: Progress) -> Result:
        """Measure. progress(done, total) counts tokens read. Lengths at which the model raises OutOfRange have no rows."""


class Inside(Protocol):
    """A model that can be looked into; it is called like any other."""

    scheme: Any
    """In force: the scheme with what an extension made of it."""
    trained_scheme: Any
    """Without the extension."""
    width: int
    orderless: bool
    """Whether it is defined without the causal mask."""

    def __call__(self, tokens: Tensor, last: int | None = None) -> Tensor: ...

    def untrained(self, layers: int | None = None, causal: bool = True) -> "Inside":
        """The same model before training, of its own depth or another. Raises UserError or ValueError where the scheme lacks it."""

    def attention(self, tokens: Tensor) -> Tensor:
        """(layers, B, H, T, T) attention weights."""

    def jacobian(self, tokens: Tensor, probes: Tensor) -> Tensor:
        """(B, T) norms of the last hidden state's derivative by each input vector, along probes (P, C) of orthonormal rows."""

    def gradient(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """(B, T) norms of the derivative of the last position's logit of targets (B,)."""

    def gradients(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """() the mean loss of targets (B, T), after a backward pass to all weights."""


class Diagnostic(Task):
    """A task that looks inside: `run` is handed an Inside. Extensions that are no model of their own have none and are refused."""


def lengths(multiples: Sequence[float], train_length: int) -> list[int]:
    """Evaluated lengths in whole tokens, halves rounded up."""
    return [math.floor(m * train_length + 0.5) for m in multiples]


def check_multiples(option: str, multiples: Sequence[float], train_length: int) -> None:
    """Raises UserError unless these are finite numbers >= 1 that give lengths of their own."""
    if not multiples or not all(1 <= m < math.inf for m in multiples):
        raise UserError(
            f"{option}={list(multiples)}: every multiple of the training length must be a number of at least 1; give one or more"
        )
    if len(set(lengths(multiples, train_length))) < len(multiples):
        raise UserError(f"{option}={list(multiples)}: two multiples of train_length={train_length} are the same length; leave one out")


def check_at_least(option: str, value: int, least: int) -> None:
    """Raises UserError for a count that is too small."""
    if value < least:
        raise UserError(f"{option}={value}: must be a whole number of at least {least}")


def batches(n: int, length: int, batch_tokens: int) -> Iterator[slice]:
    """Slices of n sequences of `length` tokens: as many at a time as batch_tokens hold, at least one."""
    step = max(1, batch_tokens // length)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
