"""From easy to late: how many of something a training sequence holds as training goes on."""

from dataclasses import dataclass

import numpy as np

from extrap.data.part import Part


@dataclass(frozen=True, kw_only=True)
class Rising(Part):
    """A part with more and more in a sequence: easy until the share `easy_until` of training, late from `late_from` on, mixed between.

    Raises ValueError where the late kind would not come after the easy one.
    """

    easy_until: float = 0.6
    late_from: float = 0.75

    def __post_init__(self) -> None:
        if not 0 <= self.easy_until < self.late_from:
            raise ValueError(f"easy_until={self.easy_until}: from 0 to below late_from={self.late_from}")

    def late(self, progress: float) -> float:
        """Share of late sequences: 0 while training is easy, 1 where it is late, linear between."""
        return float(np.clip((progress - self.easy_until) / (self.late_from - self.easy_until), 0, 1))


def counts(rng: np.random.Generator, size: int, fewest: int, most: int, late: float) -> np.ndarray:
    """`size` whole numbers in [fewest, most]: uniform with probability `late`, else log-uniform; fewest >= 1."""
    low = np.exp(rng.uniform(np.log(fewest), np.log(most + 1), size)).astype(np.int64)
    return np.where(rng.random(size) < late, rng.integers(fewest, most + 1, size), np.clip(low, fewest, most))
