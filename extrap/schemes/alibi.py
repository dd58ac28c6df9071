"""ALiBi, attention with linear biases. arXiv 2108.12409.

b_ij = -m_h (i - j), added after the 1 / sqrt(D), never learned. H a power of two: m_h = 2**(-8h/H),
h = 1 .. H. Otherwise the slopes of the largest power of two below H, then every second slope of
twice that number.
"""

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Shape


def alibi_slopes(heads: int) -> list[float]:
    power = 1 << (heads.bit_length() - 1)

    def geometric(n: int) -> list[float]:
        return [2 ** (-8 * h / n) for h in range(1, n + 1)]

    official = geometric(power)
    between = geometric(2 * power)[::2]
    missing = heads - power
    return official + between[:missing]


class ALiBi(Scheme):
    """Attention with linear biases: a penalty of the distance with one slope per head.

    Args:
        slopes: one per head in place of the official ones (for a single head 2**-8, too shallow to
            help)

    Defined at every position. Raises ValueError unless slopes are one positive number per head.

    Kind: relative
    Used by: BLOOM, MPT, Baichuan-13B
    Past L: defined; a soft window, far keys fade
    """

    def __init__(self, shape: Shape, slopes: list[float] | None = None):
        super().__init__(shape)
        H = shape.heads
        self.slopes = alibi_slopes(H) if slopes is None else slopes
        if len(self.slopes) != H or min(self.slopes) <= 0:
            raise ValueError(f"slopes={slopes}: give one positive slope for each of the {H} heads")

    def distance_bias(self, d: Tensor, layer: int) -> Tensor:
        slopes = torch.tensor(self.slopes, dtype=d.dtype, device=d.device)
        of_heads = slopes.view(-1, *[1] * d.dim())
        return -of_heads * d
