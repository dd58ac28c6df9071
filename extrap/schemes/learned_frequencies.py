"""LeRoPE: RoPE with learned frequencies. arXiv 2607.10134; transformers,
models/mistral_large4/modeling_mistral_large4.py.

theta_p = base**(-2p/D) e^(alpha_p), alpha learned, 0 at first, one for all layers and heads
alpha = 0 is RoPE. A pair may slow until training meets all its angles, or stand nearly still.
"""

import torch
from torch import Tensor, nn

from extrap.model.functional import frequencies
from extrap.model.rotary import Layout, Rotary
from extrap.model.scheme import Shape


class LearnedFrequencies(Rotary):
    """Rotary position embedding whose frequencies are learned.

    Parameters: D/2. Raises ValueError for an odd head width, a base of 1 or less and channels
    that are not paired.

    Kind: relative
    Used by: Mistral Large 4
    Past L: defined; slow pairs meet angles never trained, unless they learned to stand still
    Source: arXiv 2607.10134
    """

    def __init__(self, shape: Shape, base: float = 10000.0, layout: Layout = "interleaved"):
        super().__init__(shape, base, layout)
        self.alpha = nn.Parameter(torch.zeros(shape.head_dim // 2))

    def spectrum(self, n: int) -> Tensor:
        """theta (D/2,), float64."""
        alpha = self.alpha.double()
        grid = frequencies(self.shape.head_dim, self.base)
        return grid.to(alpha.device) * alpha.exp()
