"""Sinusoids added to the token embedding. arXiv 1706.03762, section 3.5.

x_i <- emb_scale x_i + PE[i];   PE[i, 2p] = sin(i theta_p), PE[i, 2p + 1] = cos(i theta_p), theta_p = base**(-2p/C)
|PE|**2 = C / 2, and <PE_i, PE_j> depends on i - j alone. Defined at every position, with phases never seen past L.
"""

from torch import Tensor

from extrap.relative import sinusoid
from extrap.scheme import Scheme, Shape, Where


class Sinusoidal(Scheme):
    """emb_scale: factor on the token embedding; 1 suits tokens of order 1, the original used sqrt(C) on tokens of order C**-0.5.

    Raises ValueError for an odd width.

    Kind: absolute
    Used by: the original Transformer
    Past L: defined; phases never seen in training
    Source: arXiv 1706.03762
    """

    def __init__(self, shape: Shape, base: float = 10000.0, emb_scale: float = 1.0):
        super().__init__(shape)
        if shape.dim % 2:
            raise ValueError(f"sinusoids come in pairs of channels; dim={shape.dim} is odd")
        self.base, self.emb_scale = base, emb_scale

    def embed(self, x: Tensor, at: Where) -> Tensor:
        if at.layer:
            return x
        return x * self.emb_scale + sinusoid(at.q, x.shape[-1], self.base).to(x.dtype)
