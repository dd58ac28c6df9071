"""The optimiser and its schedule, equal for every scheme."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge, Interval

from extrap.utils.bounds import Count, NotNegative, Positive, Share

Momentum = Annotated[float, Interval(ge=0, lt=1)]

OPTIMIZERS = ("adamw", "muon")
UNSEEN = ("log_every", "save_every", "save_minutes", "tokens")
"""Options that do not change the weights."""

LATER = {"optimizer": "adamw"}
"""Options that the first runs did not have, with the value that stands for those runs."""


def identity(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options that a run's identity holds. An option of LATER at its first value is
    left out, so that older runs keep their names.
    """
    seen = {name: value for name, value in options.items() if name not in UNSEEN}
    return {name: value for name, value in seen.items() if (name, value) not in LATER.items()}


@dataclass
class Optim:
    """An optimiser with a warm-up, a stable phase and a linear decay of the learning rate.

    The rate stays at its peak until the decay, so that a curriculum may wait for a model until then
    (data/curriculum.py).

    Args:
        steps: of the optimiser
        lr: peak of the learning rate
        warmup: steps of its linear rise
        decay: share of the steps, the last ones, of its linear fall; 1: all after warmup
        final: share of the peak left in the last step
        weight_decay: of matrices
        beta1, beta2: of AdamW
        clip: largest norm of the gradient
        optimizer: adamw; muon: the matrices of the blocks by Muon, all else by AdamW
        log_every: the curve gets a point every so many steps
        save_every: the disk gets a checkpoint every so many steps, a multiple of log_every
        save_minutes: and another one if the last is so many minutes old
        tokens: of the training; gives the steps in place of `steps`

    Raises ValueError for an unknown optimizer, and if a checkpoint would fall between two points.
    """

    steps: Count = 1500
    lr: Positive = 3e-3
    warmup: Annotated[int, Ge(0)] = 100
    decay: Share = 0.3
    final: NotNegative = 0.05
    weight_decay: NotNegative = 0.1
    beta1: Momentum = 0.9
    beta2: Momentum = 0.95
    clip: Positive = 1.0
    log_every: Count = 25
    save_every: Count = 250
    optimizer: str = "adamw"
    save_minutes: Positive = 10.0
    tokens: float | None = None

    def __post_init__(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            raise ValueError(f"optimizer={self.optimizer}: choose one of {', '.join(OPTIMIZERS)}")
        if self.save_every % self.log_every:
            raise ValueError(
                f"save_every={self.save_every}: a multiple of log_every={self.log_every}"
            )

    def factor(self, step: int) -> float:
        """Returns the share of the peak learning rate at a step; after the end, the last share."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        start = max(self.warmup, self.steps - round(self.decay * self.steps))
        if step < start or start == self.steps:
            return 1.0
        done = min(1.0, (step - start + 1) / (self.steps - start))
        return 1 - (1 - self.final) * done
