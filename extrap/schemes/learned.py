"""Learned absolute positions added to the token embedding, or a table of its own for every layer.
arXiv 1705.03122; GPT-2.

x_i <- x_i + P[i],  P (rows, C) ~ N(0, 0.7**2), of the size of token embeddings

Training does not change rows that it never reads, so the table has exactly L rows. A policy serves
positions past it:

raise         undefined: the model raises OutOfRange
clamp         the last row
interpolate   once T > rows, row i (rows - 1) / (T - 1), linear between rows
hierarchical  rows**2 positions: row a rows + b is alpha u_a + (1 - alpha) u_b, alpha = 0.4,
              u_a = (P[a] - alpha P[0]) / (1 - alpha); the first `rows` come out unchanged.
              https://kexue.fm/archives/7947
"""

from math import inf
from typing import Literal

import torch
from torch import Tensor, nn

from extrap.model.functional import between, table_rows
from extrap.model.scheme import Scheme, Shape, Size, Where

Policy = Literal["raise", "clamp", "interpolate", "hierarchical"]

ALPHA = 0.4  # at 0.5 rows (a, b) and (b, a) would be the same


def read(table: Tensor, t: Tensor, policy: Policy) -> Tensor:
    """Returns rows (n, C) of a table (rows, C) at coordinates t (n,) >= 0, linear between whole
    ones, under a policy for t >= rows.
    """
    rows = len(table)
    if policy == "hierarchical":
        u = (table - ALPHA * table[0]) / (1 - ALPHA)

        def pair(n: Tensor) -> Tensor:
            high = u[n // rows]
            low = u[n % rows]
            return ALPHA * high + (1 - ALPHA) * low

        return between(pair, t, rows**2 - 1)
    if policy == "interpolate":
        last = t.max().clamp(min=max(rows - 1, 1))
        t = t * ((rows - 1) / last)
    return between(lambda n: table[n], t, rows - 1)


class Learned(Scheme):
    """Learned absolute positions: a table whose rows are added to the tokens.

    Args:
        rows: size of a table in tokens; null stands for L; only randomised positions need more
        layers: `first` has one table, added to the token embedding; `every` has one per layer,
            added to the input of that layer
        policy: for positions past the table: raise, clamp, interpolate or hierarchical

    Parameters: rows x C, or layers x rows x C. Under `raise` (and past rows**2 under
    `hierarchical`) the GPT raises OutOfRange. Raises ValueError for rows < L; warns for rows > L,
    which only randomised positions train.

    Kind: absolute
    Used by: GPT-2, OPT, BERT
    Past L: undefined; raise by default, or clamp, interpolate, hierarchical
    """

    def __init__(
        self,
        shape: Shape,
        rows: Size | None = None,
        layers: Literal["first", "every"] = "first",
        policy: Policy = "raise",
    ):
        super().__init__(shape)
        self.policy: Policy = policy
        tables = shape.layers if layers == "every" else 1
        size = (tables, table_rows(rows, shape.length), shape.dim)
        table = torch.randn(size)
        self.table = nn.Parameter(table * 0.7)

    @property
    def limit(self) -> float:  # type: ignore[override]
        rows = self.table.shape[1]
        return {"raise": rows, "hierarchical": rows**2}.get(self.policy, inf)

    def embed(self, x: Tensor, at: Where) -> Tensor:
        if at.layer >= len(self.table):
            return x
        rows = read(self.table[at.layer], at.q, self.policy)
        return x + rows.to(x.dtype)
