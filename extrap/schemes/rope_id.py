"""RoPE-ID, in distribution: half of the channels turn, so fast that training meets every angle.
arXiv 2603.18017.

theta_p = (2 pi r / L)**(p / (P - 1)),  p = 0 .. P - 1,  P = fraction D / 2 pairs

The other channels pass unchanged. The first pair turns by 1 a token, the last r times within L: no
text, however long, shows a new angle. The channels that stand still keep the clusters of queries
and keys apart.
"""

from math import pi

from extrap.model.rotary import Layout
from extrap.model.scheme import Shape
from extrap.schemes.partial_rope import PartialRoPE


class RoPEID(PartialRoPE):
    """Rotary position embedding in distribution: training meets every angle.

    Args:
        fraction: share of the channels that turn
        turns: r, of the slowest pair within L

    Raises ValueError unless fraction D is an even number from 4 to D, and unless 0 < r < L / (2
    pi), where the slowest pair would be as fast as the first. From the paper: half of the channels
    turn, at high frequencies. The grid is ours and unverified: we could not read its base.

    Kind: relative
    Past L: defined; no angle is new
    """

    fewest = 4  # the grid runs from the first pair to the last

    def __init__(
        self, shape: Shape, fraction: float = 0.5, turns: float = 1.0, layout: Layout = "half"
    ):
        if not 0 < turns < shape.length / (2 * pi):
            raise ValueError(
                f"turns={turns}: above 0 and below {shape.length / (2 * pi):.3g}, the turns of the "
                f"first pair within the training length {shape.length}"
            )
        pairs = round(fraction * shape.head_dim) // 2
        slowing = shape.length / (2 * pi * turns)
        base = slowing ** (pairs / max(pairs - 1, 1))
        super().__init__(shape, base, fraction, layout)
