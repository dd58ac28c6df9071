"""RoPE, rotary position embedding. arXiv 2104.09864.

q~_i = R_i q_i, k~_j = R_j k_j;  R_m turns pair p by m theta_p:  (a, b) -> (a cos - b sin, a sin + b cos),  theta_p = base**(-2p/D)
<R_i q, R_j k> depends on i - j alone, |R_i q| = |q|, R_0 = I. Values are not rotated.
"""

from typing import Literal

import torch
from torch import Tensor

from extrap.relative import frequencies
from extrap.scheme import Scheme, Shape, Where

Layout = Literal["interleaved", "half"]


def turn(x: Tensor, angle: Tensor, layout: Layout) -> Tensor:
    """Rotate the channel pairs of x (..., T, D) by angle (T, D/2), float64.

    interleaved pairs channels (2p, 2p + 1), as the paper does; half pairs (p, p + D/2), as Llama does.
    """
    wide = torch.promote_types(x.dtype, torch.float32)
    cos, sin = angle.cos().to(wide), angle.sin().to(wide)
    if layout == "interleaved":
        a, b = x.to(wide).unflatten(-1, (-1, 2)).unbind(-1)
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).to(x.dtype)
    a, b = x.to(wide).chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1).to(x.dtype)


class RoPE(Scheme):
    """Parameters: none. Defined at every position; past L the slow pairs meet angles never trained.

    Raises ValueError for an odd head width or a base of 1 or less.

    Kind: relative
    Used by: Llama, Mistral, Qwen, GPT-J, GPT-NeoX
    Past L: defined; slow pairs meet angles never trained
    Source: arXiv 2104.09864
    """

    def __init__(self, shape: Shape, base: float = 10000.0, layout: Layout = "interleaved"):
        super().__init__(shape)
        if shape.head_dim % 2:
            raise ValueError(f"RoPE rotates pairs of channels; head width {shape.head_dim} (dim / heads) is odd")
        if base <= 1:
            raise ValueError(f"base={base}: must exceed 1")
        self.base, self.layout = base, layout

    def spectrum(self, n: int) -> Tensor:
        """theta (D/2,), float64, for a forward of n tokens; what extensions wrap."""
        return frequencies(self.shape.head_dim, self.base)

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        theta = self.spectrum(at.length).to(q.device)
        return turn(q, at.q[:, None] * theta, self.layout), turn(k, at.k[:, None] * theta, self.layout)
