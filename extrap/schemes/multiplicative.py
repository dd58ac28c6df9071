"""Absolute positions that multiply the token embedding instead of adding to it.
https://kexue.fm/archives/8130.

learned:     x_i <- x_i * P[i],             P (rows, C) ~ 1 + N(0, 0.02**2)
sinusoidal:  x_i <- x_i * (1 + a PE[i]),    PE as in arXiv 1706.03762
The 1 keeps token 0, of which a bare sinusoid would erase half: sin 0 = 0. We could not read the
source's experiments: the 1 and the initialisations are our choices.
"""

import torch
from torch import Tensor, nn

from extrap.model.functional import between, check_even, sinusoid, table_rows
from extrap.model.scheme import Scheme, Shape, Size, Where
from extrap.utils.bounds import Base


class MultiplicativeLearned(Scheme):
    """A learned table of positions that multiplies the token embedding.

    Args:
        rows: size of the table in tokens; null stands for the training length L

    Parameters: rows x C. Undefined at positions >= rows: the GPT raises OutOfRange. Raises
    ValueError for rows < L; warns for rows > L, which only randomised positions train.

    Kind: absolute
    Past L: undefined; raises
    Source: kexue.fm/archives/8130
    """

    def __init__(self, shape: Shape, rows: Size | None = None):
        super().__init__(shape)
        self.limit = table_rows(rows, shape.length)
        noise = torch.randn(self.limit, shape.dim)
        self.table = nn.Parameter(1 + 0.02 * noise)

    def embed(self, x: Tensor, at: Where) -> Tensor:
        if at.layer:
            return x
        last = len(self.table) - 1
        factor = between(lambda n: self.table[n], at.q, last)
        return x * factor.to(x.dtype)


class MultiplicativeSinusoidal(Scheme):
    """Sinusoids of the position that multiply the token embedding.

    Args:
        base: of the frequencies theta_p
        amplitude: a above; 0 would be NoPE

    Parameters: none. Raises ValueError for an odd width or an amplitude of 0.

    Kind: absolute
    Past L: defined; slow channels meet phases never seen
    Source: kexue.fm/archives/8130
    """

    def __init__(self, shape: Shape, amplitude: float = 1.0, base: Base = 10000.0):
        super().__init__(shape)
        check_even(shape.dim)
        if amplitude == 0:
            raise ValueError(f"amplitude={amplitude}: must not be 0, which is NoPE")
        self.amplitude = amplitude
        self.base = base

    def embed(self, x: Tensor, at: Where) -> Tensor:
        if at.layer:
            return x
        pe = sinusoid(at.q, self.shape.dim, self.base)
        factor = 1 + self.amplitude * pe
        return x * factor.to(x.dtype)
