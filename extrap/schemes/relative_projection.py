"""Content-conditioned relative bias: each token mixes a curve over the distance from a few learned
ones. transformers, models/inkling/modeling_inkling.py; no paper.

b_ij = sum_r a_ir E_r[i - j] for i - j < extent, else 0
a_i = W x_i + c, one a per head    (x: normed input of the layer)
The shift c starts at 0: x-transformers has it, Inkling has none. A constant a is a learned bias
per head and distance, as in T5.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.functional import by_step, table_limit
from extrap.model.scheme import Scheme, Shape, Size, Where


class RelativeProjection(Scheme):
    """A content-conditioned relative bias: each token mixes learned curves over the distance.

    Args:
        curves: learned curves of a layer, which its heads share
        extent: distances with a value of their own, null stands for L / 2

    Parameters: curves (extent + H (C + 1)) per layer. Raises ValueError unless 2 <= extent <= L.

    Kind: relative
    Used by: Inkling
    Past L: defined; no bias past the extent
    Source: transformers, models/inkling
    """

    def __init__(self, shape: Shape, curves: Size = 16, extent: Size | None = None):
        super().__init__(shape)
        L = shape.length
        self.extent = table_limit("extent", extent, L // 2, 2, L)
        layers = shape.layers
        C = shape.dim
        rows = shape.heads * curves
        w = torch.randn(layers, rows, C)
        e = torch.randn(layers, curves, self.extent)
        self.w = nn.Parameter(w * C**-0.5)
        self.c = nn.Parameter(torch.zeros(layers, rows))
        self.e = nn.Parameter(0.02 * e)

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        x = at.x[:, at.i]
        w = self.w[at.layer].to(x.dtype)
        c = self.c[at.layer].to(x.dtype)
        e = self.e[at.layer].to(x.dtype)
        a = F.linear(x, w, c)
        a = a.unflatten(-1, (self.shape.heads, -1)).transpose(1, 2)
        curves = F.pad(a @ e, (0, 1))  # 0 from the extent on
        return by_step(curves, at)
