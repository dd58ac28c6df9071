"""Sinusoids concatenated to the token embedding instead of added to it.

projected   x_i <- [x_i ; PE_i] W,   W (C + P, C), no bias
split       x_i <- [x_i[: C - P] ; PE_i],   PE replaces the last P channels of the token

W = [I; I] with P = C is the sum, W = [I; 0] is NoPE. PE (T, P) as in arXiv 1706.03762:
sin(i theta_p), cos(i theta_p) interleaved, theta_p = base**(-2p/P).
"""

import torch
from torch import Tensor, nn

from extrap.model.functional import sinusoid
from extrap.model.scheme import Pairs, Scheme, Shape, Where
from extrap.utils.bounds import Base


class ConcatenatedProjected(Scheme):
    """Sinusoids concatenated to the token embedding, projected back to the width of the model.

    Args:
        width: P channels of position; null stands for C, or C - 1 if C is odd
        base: of the frequencies theta_p

    Parameters: (C + P) x C.

    Kind: absolute
    Past L: defined; slow channels meet phases never seen
    """

    def __init__(self, shape: Shape, width: Pairs | None = None, base: Base = 10000.0):
        super().__init__(shape)
        self.width = max(2, shape.dim // 2 * 2) if width is None else width
        self.base = base
        C = shape.dim
        rows = C + self.width
        w = torch.randn(rows, C)
        self.projection = nn.Parameter(w * rows**-0.5)

    def embed(self, x: Tensor, at: Where) -> Tensor:
        if at.layer:
            return x
        of_token, of_position = self.projection.split([self.shape.dim, self.width])
        pe = sinusoid(at.q, self.width, self.base).to(x.dtype)
        return x @ of_token + pe @ of_position


class ConcatenatedSplit(Scheme):
    """Sinusoids in the last channels of the input, the token embedding in the others.

    Args:
        width: P channels of position; null stands for C / 4
        base: of the frequencies theta_p

    The input ignores the last P entries of a token's embedding. They stay idle under an untied head
    (the default); a tied head reads whole rows and trains them for the output alone. Parameters:
    none. Raises ValueError for a width that is not below C.

    Kind: absolute
    Past L: defined; slow channels meet phases never seen
    """

    def __init__(self, shape: Shape, width: Pairs | None = None, base: Base = 10000.0):
        super().__init__(shape)
        self.width = max(2, shape.dim // 8 * 2) if width is None else width
        self.base = base
        if self.width >= shape.dim:
            raise ValueError(
                f"width={self.width}: must leave channels to the token, dim={shape.dim}"
            )

    def embed(self, x: Tensor, at: Where) -> Tensor:
        if at.layer:
            return x
        token = x[..., : -self.width]
        pe = sinusoid(at.q, self.width, self.base).to(x.dtype)
        position = pe.expand(len(x), -1, -1)
        return torch.cat([token, position], -1)
