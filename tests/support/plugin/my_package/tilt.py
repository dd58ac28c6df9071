"""Keys count the less the farther they are, at one slope for all heads. arXiv 2108.12409.

b = -slope min(d, reach)
"""

from torch import Tensor

from extrap import Scheme, Shape


class Tilt(Scheme):
    """reach: tokens from which on the tilt grows no more; null: nowhere. Parameters: none.

    Kind: relative
    Past L: defined; far keys fade
    Source: arXiv 2108.12409
    """

    def __init__(self, shape: Shape, slope: float = 0.05, reach: float | None = None):
        super().__init__(shape)
        self.slope = slope
        self.reach = reach

    def distance_bias(self, d: Tensor, layer: int) -> Tensor:
        return (-self.slope * d.clamp(max=self.reach or float("inf"))).expand(
            self.shape.heads, *d.shape
        )
