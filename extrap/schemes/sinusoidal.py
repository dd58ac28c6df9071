"""Sinusoids added to the token embedding, or again before every layer. arXiv 1706.03762, section
3.5.

x_i <- emb_scale x_i + PE[i]
PE[i, 2p] = sin(i theta_p),   PE[i, 2p + 1] = cos(i theta_p),   theta_p = base**(-2p/C)

|PE|**2 = C / 2, and <PE_i, PE_j> = sum_p cos((i - j) theta_p) depends on i - j alone. Training
never met the phases past L.
"""

from typing import Literal

from torch import Tensor

from extrap.model.functional import check_even, sinusoid
from extrap.model.scheme import Scheme, Shape, Where
from extrap.utils.bounds import Base, Positive


class Sinusoidal(Scheme):
    """Sinusoids of the position, added to the tokens.

    Args:
        base: of the frequencies theta_p
        emb_scale: factor on the token embedding; 1 suits tokens of order 1, the original used
            sqrt(C) on tokens of order C**-0.5
        layers: `first` adds PE to the token embedding, `every` to the input of each layer (arXiv
            1807.03819)

    Raises ValueError for an odd width.

    Kind: absolute
    Used by: the original Transformer, Universal Transformer
    Past L: defined; slow channels meet phases never seen
    """

    def __init__(
        self,
        shape: Shape,
        base: Base = 10000.0,
        emb_scale: Positive = 1.0,
        layers: Literal["first", "every"] = "first",
    ):
        super().__init__(shape)
        check_even(shape.dim)
        self.base = base
        self.emb_scale = emb_scale
        self.layers = layers

    def embed(self, x: Tensor, at: Where) -> Tensor:
        if at.layer and self.layers == "first":
            return x
        pe = at.once(self, lambda: sinusoid(at.q, self.shape.dim, self.base))
        return (x if at.layer else x * self.emb_scale) + pe.to(x.dtype)
