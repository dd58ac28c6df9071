"""How a run is optimised: equal for every scheme."""

from dataclasses import dataclass
from math import inf


@dataclass
class Optim:
    """AdamW with linear warm-up and linear decay. lr: peak; final: share of it left at the last step; clip: gradient norm.

    The curve gets a point every log_every steps, the disk a checkpoint every save_every.
    """

    steps: int = 2000
    lr: float = 3e-3
    warmup: int = 100
    final: float = 0.1
    weight_decay: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.95
    clip: float = 1.0
    log_every: int = 25
    save_every: int = 250

    def __post_init__(self) -> None:
        """Raises ValueError for values that make no sense."""
        for name, low in (("steps", 1), ("warmup", 0), ("log_every", 1), ("save_every", 1)):
            if getattr(self, name) < low:
                raise ValueError(f"{name}={getattr(self, name)}: at least {low}")
        for name in ("weight_decay", "final"):
            if not 0 <= getattr(self, name) < inf:
                raise ValueError(f"{name}={getattr(self, name)}: a finite number of at least 0")
        for name in ("lr", "clip"):
            if not 0 < getattr(self, name) < inf:
                raise ValueError(f"{name}={getattr(self, name)}: a number above 0")
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: from 0 to below 1")
        if self.save_every % self.log_every:
            raise ValueError(f"save_every={self.save_every}: a multiple of log_every={self.log_every}")

    def factor(self, step: int) -> float:
        """Share of the peak learning rate at a step: up linearly over `warmup` steps, then down linearly to `final`."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        return 1 - (1 - self.final) * min(1.0, (step - self.warmup) / max(1, self.steps - self.warmup))
