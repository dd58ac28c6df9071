"""Partial rotary: RoPE in the first channels of a head, content alone in the others. GPT-NeoX,
arXiv 2204.06745.

D_r = fraction D channels turn with theta_p = base**(-2p/D_r), re-spaced over D_r; the other D - D_r
pass unchanged.
"""

from extrap.model.rotary import Layout, Rotary
from extrap.model.scheme import Shape


class PartialRoPE(Rotary):
    """Rotary position embedding in the first D_r channels of a head.

    Args:
        fraction: share of the channels that turn; GPT-NeoX has 0.25 of wider heads; 1 is RoPE
        layout: of the D_r channels

    Raises ValueError unless fraction D is an even number from 2 to D.

    Kind: relative
    Used by: GPT-NeoX, Pythia, Phi, StableLM, GLM-4, MiniMax-M2, Qwen3-Next
    Past L: defined; slow pairs meet angles never trained, the other channels do not
    """

    fewest = 2
    """Channels that turn, at least."""

    def __init__(
        self, shape: Shape, base: float = 10000.0, fraction: float = 0.5, layout: Layout = "half"
    ):
        width = round(fraction * shape.head_dim)
        whole = abs(width - fraction * shape.head_dim) < 1e-6
        if not whole or width % 2 or not self.fewest <= width <= shape.head_dim:
            raise ValueError(
                f"fraction={fraction}: of {shape.head_dim} channels, an even number from "
                f"{self.fewest} to {shape.head_dim} can turn"
            )
        self.turned = width
        super().__init__(shape, base, layout)
