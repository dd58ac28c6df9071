"""Fine-tuning: its options, and which weights it changes. Its run: extrap/runs/finetuned.py."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge
from torch import Tensor

from extrap.runs.training.optim import Optim
from extrap.utils.bounds import Count, NotNegative, Positive

if TYPE_CHECKING:
    from extrap.model.gpt import GPT

OWN = ("steps", "lr", "warmup", "final", "weight_decay", "log_every", "save_every")
"""Options of training for which tuning has its own values."""


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """The options of fine-tuning.

    Args:
        steps, lr, warmup, final, weight_decay, log_every, save_every: as in training, which gives
            the rest (betas, clipping)
        factor: s; windows have s times the training length, and the extension is set for s; below 1
            without an extension alone; null: the factor of the extension
        batch: share of the windows of each part per step, at least one; null: 1 / s, as many tokens
            as in training

    Raises ValueError as Optim does.
    """

    steps: Count = 100
    lr: Positive = 1e-3
    warmup: Annotated[int, Ge(0)] = 10
    final: NotNegative = 0.1
    weight_decay: NotNegative = 0.0
    factor: Positive | None = None
    batch: Positive | None = None
    log_every: Count = 5
    save_every: Count = 25

    def __post_init__(self) -> None:
        Optim(**self.own)

    @property
    def own(self) -> dict[str, Any]:
        """Returns the values of OWN."""
        return {name: getattr(self, name) for name in OWN}

    def adapt(self, model: "GPT") -> None:
        """Prepares a model for tuning, in place. Raises ValueError if options do not fit it."""

    def merge(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Returns the weights of an adapted model as a plain one has them."""
        return dict(weights)

    def kept(self, tuned: Mapping[str, Tensor], plain: "GPT") -> dict[str, Tensor]:
        """Returns the weights that the run keeps, of those tuned and of the model before."""
        return dict(tuned)


class Full(Tuning):
    """Fine-tuning of every weight."""
