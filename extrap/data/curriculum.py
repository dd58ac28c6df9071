"""From easy to late: how many of something a training sequence holds as training goes on."""

import numpy as np


def late(progress: float, easy_until: float, late_from: float) -> float:
    """0 while training is easy, until `easy_until`; 1 from `late_from` on; linear between. All are shares of training."""
    return float(np.clip((progress - easy_until) / (late_from - easy_until), 0, 1))


def counts(rng: np.random.Generator, size: int, fewest: int, most: int, late: float) -> np.ndarray:
    """`size` whole numbers in [fewest, most]: uniform with probability `late`, else log-uniform; fewest >= 1."""
    low = np.exp(rng.uniform(np.log(fewest), np.log(most + 1), size)).astype(np.int64)
    return np.where(rng.random(size) < late, rng.integers(fewest, most + 1, size), np.clip(low, fewest, most))


def check_shares(easy_until: float, late_from: float) -> None:
    """Raises ValueError where the late kind would not come after the easy one."""
    if not 0 <= easy_until < late_from:
        raise ValueError(f"easy_until={easy_until}: from 0 to below late_from={late_from}")
