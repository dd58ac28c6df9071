"""Interpolation of a single pair: theta'_p = theta_p / s for one p, the others as trained.

A probe rather than a method: within L it shows which pairs need their resolution. All pairs
together are interpolation.
"""

from torch import Tensor

from extrap.extensions.frequencies import Frequencies
from extrap.model.spectrum import Pairs


class PairInterpolation(Frequencies):
    """pair: p, counted from 0, the fastest, in each grid of frequencies; null stands for all pairs.

    Raises ValueError for a factor below 1 and a pair below 0; refuses a scheme with fewer pairs.
    """

    def __init__(self, factor: float | None = 8.0, pair: int | None = 0):
        super().__init__(factor)
        if pair is not None and pair < 0:
            raise ValueError(f"pair={pair}: counted from 0")
        self.pair = pair

    def theta(self, pairs: Pairs, s: float) -> Tensor:
        if self.pair is None:
            return pairs.theta / s
        if self.pair >= pairs.width // 2:
            raise ValueError(f"pair={self.pair}: there are {pairs.width // 2}, counted from 0")
        return pairs.theta.where(pairs.index != self.pair, pairs.theta / s)
