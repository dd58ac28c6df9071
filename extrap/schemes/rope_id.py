"""RoPE-ID, in distribution: half of the channels turn, so fast that training meets every angle.
arXiv 2603.18017.

theta_p = (2 pi r / L)**(p / (P - 1)),  p = 0 .. P - 1,  P = fraction D / 2 pairs

The other channels pass unchanged. The first pair turns by 1 a token, the last r times within L: no
text, however long, shows a new angle. The channels that stand still keep the clusters of queries
and keys apart.
"""

from math import pi

from extrap.model.rotary import Layout, Rotary
from extrap.model.scheme import Shape


class RoPEID(Rotary):
    """fraction: share of the channels that turn; turns: r, of the slowest pair within L.

    Raises ValueError unless fraction D is an even number from 4 to D, and unless 0 < r < L / (2
    pi), where the slowest pair would be as fast as the first. From the paper: half of the channels
    turn, at high frequencies. The grid is ours and unverified: we could not read its base.

    Kind: relative
    Past L: defined; no angle is new
    Source: arXiv 2603.18017
    Colour: blue
    """

    def __init__(
        self,
        shape: Shape,
        fraction: float = 0.5,
        turns: float = 1.0,
        layout: Layout = "half",
    ):
        width = round(fraction * shape.head_dim)
        if width % 2 or not 4 <= width <= shape.head_dim:
            raise ValueError(
                f"fraction={fraction}: of {shape.head_dim} channels, an even number from 4 to "
                f"{shape.head_dim} can turn"
            )
        if not 0 < turns < shape.length / (2 * pi):
            raise ValueError(
                f"turns={turns}: above 0 and below {shape.length / (2 * pi):.3g}, the turns of the "
                f"first pair within the training length {shape.length}"
            )
        pairs = width // 2
        base = (shape.length / (2 * pi * turns)) ** (pairs / (pairs - 1))
        self.turned = width
        super().__init__(shape, base, layout)
