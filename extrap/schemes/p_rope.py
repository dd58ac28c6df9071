"""p-RoPE: a RoPE whose slowest pairs stand still and carry content alone. arXiv 2410.06205.

theta_p = base**(-2p/D) for p < floor(fraction D/2), 0 above: the spectrum is cut, not re-spaced.
"""

import torch
from torch import Tensor

from extrap.model.functional import frequencies
from extrap.model.rotary import Layout, Rotary
from extrap.model.scheme import Shape


class PRoPE(Rotary):
    """fraction: share of the pairs that turn; 0 is NoPE, 1 is RoPE.

    Parameters: none. Raises ValueError for a fraction outside 0 to 1. The formula is that of
    transformers' "proportional" rotary type; we did not check the paper.

    Kind: relative
    Used by: Gemma 4 (a quarter of the pairs), LFM3 (half)
    Past L: defined; fewer slow pairs meet angles never trained
    Source: arXiv 2410.06205
    Colour: blue
    """

    def __init__(
        self,
        shape: Shape,
        base: float = 10000.0,
        fraction: float = 0.75,
        layout: Layout = "interleaved",
    ):
        super().__init__(shape, base, layout)
        if not 0 <= fraction <= 1:
            raise ValueError(f"fraction={fraction}: a share of the pairs lies between 0 and 1")
        self.fraction = fraction

    def spectrum(self, n: int) -> Tensor:
        """theta (D/2,), float64, 0 for the pairs that stand still."""
        theta = frequencies(self.shape.head_dim, self.base)
        kept = int(self.fraction * len(theta) + 1e-9)
        return torch.cat([theta[:kept], torch.zeros_like(theta[kept:])])
