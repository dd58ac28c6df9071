"""Interpolation of a single pair: theta'_p = theta_p / s for one p, the others as trained.

A probe rather than a method: within L it shows which pairs need their resolution. All pairs
together are interpolation.
"""

from typing import Annotated

from annotated_types import Ge
from torch import Tensor

from extrap.extensions.frequencies import Frequencies
from extrap.model.spectrum import Pairs
from extrap.utils.bounds import Factor


class PairInterpolation(Frequencies):
    """Interpolation of a single pair of channels; all others turn as trained.

    Args:
        pair: p, counted from 0, the fastest, in each grid of frequencies; null stands for all pairs

    Refuses a scheme with fewer pairs.
    """

    def __init__(self, factor: Factor | None = 8.0, pair: Annotated[int, Ge(0)] | None = 0):
        super().__init__(factor)
        self.pair = pair

    def theta(self, pairs: Pairs, s: float) -> Tensor:
        if self.pair is None:
            return pairs.theta / s
        if self.pair >= pairs.width // 2:
            raise ValueError(f"pair={self.pair}: there are {pairs.width // 2}, counted from 0")
        return pairs.theta.where(pairs.index != self.pair, pairs.theta / s)
