"""HoPE, high-frequency rotary position encoding: pairs too slow for the training window stand
still. arXiv 2410.21216.

theta_p = base**(-2p/D) where L theta_p / (2 pi) >= turns, else 0. The cut at one full turn within L
is unverified: we know summaries of the paper alone, and therefore it is an option.
"""

from math import pi

from torch import Tensor

from extrap.model.functional import frequencies
from extrap.model.rotary import Layout, Rotary
from extrap.model.scheme import Shape
from extrap.utils.bounds import NotNegative


class HoPE(Rotary):
    """Rotary position embedding whose pairs stand still if too slow for the training window.

    Args:
        turns: full turns a pair must make within L to keep its frequency; 0 is RoPE

    Kind: relative
    Past L: defined; every angle was trained
    """

    def __init__(
        self,
        shape: Shape,
        base: float = 10000.0,
        turns: NotNegative = 1.0,
        layout: Layout = "interleaved",
    ):
        super().__init__(shape, base, layout)
        self.turns = turns

    def spectrum(self, n: int) -> Tensor:
        """theta (D/2,), float64, 0 for pairs that stand still, at every n."""
        theta = frequencies(self.shape.head_dim, self.base)
        turns = self.shape.length * theta / (2 * pi)
        return theta.where(turns >= self.turns, 0.0)
