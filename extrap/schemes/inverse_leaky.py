"""Inverse Leaky ReRoPE: training sets far keys apart, so that no distance is new at test.
https://kexue.fm/archives/9728.

training:  D_ij = n for n < w, then w + (n - w) / k with k = 1 / (2 factor): far tokens lie 2 factor
           apart;   n = i - j
test:      D_ij = n, the plain scheme at the plain speed. Up to factor L tokens every distance lies
           within the trained range.
"""

from extrap.model.distance_maps import leaky
from extrap.model.scheme import Scheme, Shape, Size
from extrap.model.wrapper import Wrapper
from extrap.utils.bounds import Factor


class InverseLeaky(Wrapper):
    """Inverse Leaky ReRoPE around another scheme: training stretches far distances.

    Args:
        inner: the scheme whose distances training stretches
        window: w in tokens; null stands for L / 4
        factor: the longest text to read, over L

    The source also multiplies RoPE's base by it, which is an option of inner. Parameters: the
    parameters of inner. Raises ValueError for a window past L and an inner that owns attention.

    Kind: relative
    Past L: defined; distances up to factor L lie within the trained range
    """

    sealed = True

    def __init__(
        self, shape: Shape, inner: Scheme, window: Size | None = None, factor: Factor = 8.0
    ):
        super().__init__(shape)
        window = max(1, shape.length // 4) if window is None else window
        if window > shape.length:
            raise ValueError(f"window={window}: at most the training length {shape.length}")
        self.stretched = leaky(inner, window, 1 / (2 * factor))

    def in_layer(self, layer: int | None) -> Scheme:
        return self.stretched if self.training else self.stretched.part
