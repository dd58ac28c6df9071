"""Far keys count less; all heads share one slope. arXiv 2108.12409.

b = -slope min(d, reach)
"""

from torch import Tensor

from extrap import Scheme, Shape


class Tilt(Scheme):
    """A bias that falls with the distance, at one slope for all heads. Parameters: none.

    Args:
        slope: by which a logit falls per token
        reach: distance in tokens after which the bias is constant; null: no limit

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
