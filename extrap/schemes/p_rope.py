"""p-RoPE: a RoPE whose slowest pairs stand still and carry content alone. arXiv 2410.06205.

theta_p = base**(-2p/D) for p < floor(fraction D/2), 0 above: the spectrum is cut, not re-spaced.
"""

import torch
from torch import Tensor

from extrap.model.functional import frequencies
from extrap.model.rotary import Layout, Rotary
from extrap.model.scheme import Shape
from extrap.utils.bounds import Share


class PRoPE(Rotary):
    """Rotary position embedding whose slowest pairs stand still and carry content alone.

    Args:
        fraction: share of the pairs that turn; 0 is NoPE, 1 is RoPE

    The formula comes from transformers' "proportional" rotary type; we did not check the paper.

    Kind: relative
    Used by: Gemma 4 (a quarter of the pairs), LFM3 (half)
    Past L: defined; fewer slow pairs meet angles never trained
    """

    def __init__(
        self,
        shape: Shape,
        base: float = 10000.0,
        fraction: Share = 0.75,
        layout: Layout = "interleaved",
    ):
        super().__init__(shape, base, layout)
        self.fraction = fraction

    def spectrum(self, n: int) -> Tensor:
        """theta (D/2,), float64, 0 for the pairs that stand still."""
        theta = frequencies(self.shape.head_dim, self.base)
        kept = int(self.fraction * len(theta) + 1e-9)
        still = torch.zeros_like(theta[kept:])
        return torch.cat([theta[:kept], still])
