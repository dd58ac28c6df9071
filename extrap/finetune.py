"""Fine-tuning: a trained model is trained on, on longer windows and with an extension in place. What it changes, and its options.

How it becomes a run of its own is extrap/tuned.py.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from torch import Tensor

from extrap.gpt import GPT
from extrap.optim import Optim


@dataclass(frozen=True, kw_only=True)
class Tuning(ABC):
    """steps ... save_every: as in training, which says the rest (betas, clipping).

    factor: s; windows have s times the training length, and the extension is set for s. null: what the extension is set for.
    batch: share of the windows of each part per step, at least one; null stands for 1 / s, as many tokens as in training.
    Raises ValueError for a factor below 1, a share of 0 or less, and what makes no sense in training.
    """

    steps: int = 100
    lr: float = 1e-3
    warmup: int = 10
    final: float = 0.1
    weight_decay: float = 0.0
    factor: float | None = None
    batch: float | None = None
    log_every: int = 5
    save_every: int = 25

    def __post_init__(self) -> None:
        if self.factor is not None and not 1 <= self.factor < inf:
            raise ValueError(f"factor={self.factor}: at least 1, or null for the factor of the extension")
        if self.batch is not None and not 0 < self.batch < inf:
            raise ValueError(f"batch={self.batch}: a share of the windows above 0, or null for 1 / factor")
        self.optim({})

    def optim(self, train: Mapping[str, Any]) -> Optim:
        """train: the options of the training before."""
        own = ("steps", "lr", "warmup", "final", "weight_decay", "log_every", "save_every")
        return Optim(**{**train, **{name: getattr(self, name) for name in own}})

    @abstractmethod
    def adapt(self, model: GPT) -> None:
        """Prepares a model for tuning, in place. Raises ValueError for options that do not fit it."""

    @abstractmethod
    def merge(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The weights of an adapted model as those of a plain one."""


class Full(Tuning):
    """Every weight is tuned."""

    def adapt(self, model: GPT) -> None:
        return None

    def merge(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return dict(weights)
