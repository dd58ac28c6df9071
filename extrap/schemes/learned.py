"""Learned absolute positions added to the token embedding. arXiv 1705.03122; GPT-2.

x_i <- x_i + P[i],  P (limit, C) ~ N(0, 0.7**2), as large as tokens of order 1 ask for. Rows that never occur in training stay
as they were drawn, so the table holds exactly the training length. Past it the sum is undefined and the model says so.
"""

import torch
from torch import Tensor, nn

from extrap.scheme import Scheme, Shape, Where, whole_steps


class Learned(Scheme):
    """rows: size of the table in tokens; null stands for the training length L.

    Parameters: rows x C. Undefined at positions >= rows: the GPT raises OutOfRange. Raises ValueError for rows < L.

    Kind: absolute
    Used by: GPT-2, OPT, BERT
    Past L: undefined; raises
    Source: arXiv 1705.03122
    """

    def __init__(self, shape: Shape, rows: int | None = None):
        super().__init__(shape)
        self.limit = shape.length if rows is None else rows
        if self.limit < shape.length:
            raise ValueError(f"rows={rows}: the table must hold the training length {shape.length}")
        self.table = nn.Parameter(torch.randn(self.limit, shape.dim) * 0.7)

    def embed(self, x: Tensor, at: Where) -> Tensor:
        return x if at.layer else x + self.table[whole_steps(at.q)].to(x.dtype)
