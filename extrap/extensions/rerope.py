"""ReRoPE and Leaky ReRoPE: far keys at a constant distance, or at distances that grow more slowly.
https://kexue.fm/archives/9708.

ReRoPE   D_ij = min(n, w);   Leaky ReRoPE   D_ij = n for n < w, then w + (n - w) / k;   n = i - j
They came with RoPE and serve every scheme whose attention depends on the distance. Inside L they
change the model if w < L.
"""

from typing import Annotated

from annotated_types import Gt

from extrap.extensions.distances import DistanceExtension, width_of
from extrap.model.distance_maps import Near, constant, leaky
from extrap.model.scheme import Scheme
from extrap.utils.bounds import Factor

Divisor = Annotated[float, Gt(1)]


class ReRoPE(DistanceExtension):
    """ReRoPE: keys farther than w tokens all stand at distance w.

    Args:
        width: w in tokens, at most L; null stands for L / 2

    The author's code has w = L / 8, and L / 4 in the results of its README, and multiplies queries
    by the clipped log of the length: extension=rerope-log-n does.
    """

    def __init__(self, width: int | None = None):
        self.width = width

    def map(self, scheme: Scheme) -> Near:
        L = scheme.shape.length
        w = width_of(self.width, L // 2, L, "width")
        return constant(scheme, w)


class LeakyReRoPE(DistanceExtension):
    """Leaky ReRoPE: distances past w grow k times more slowly.

    Args:
        width: w in tokens, at most L; null stands for L / 4
        k: divides distances past w

    k null: (s L - 1 - w) / (L - 1 - w) with the factor s; the farthest key of s L tokens then lies
    at L - 1, the farthest distance of training. With a k, the factor plays no part, and rows record
    the factor of this k. The author's code has w = L / 8, and the log of ReRoPE's.
    """

    factor: float  # never null here

    def __init__(self, factor: Factor = 8.0, width: int | None = None, k: Divisor | None = None):
        self.factor = factor
        self.width = width
        self.k = k

    def effective(self, n: int, length: int) -> float:
        if self.k is None:
            return self.factor
        w = width_of(self.width, length // 4, length - 2, "width", "L - 2 =")
        past_width = self.k * (length - 1 - w)
        return (1 + w + past_width) / length

    def map(self, scheme: Scheme) -> Near:
        L = scheme.shape.length
        w = width_of(self.width, L // 4, L - 2, "width", "L - 2 =")
        k = self.k
        if k is None:
            k = (self.factor * L - 1 - w) / (L - 1 - w)
        return leaky(scheme, w, k)
