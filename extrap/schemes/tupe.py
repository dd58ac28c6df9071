"""TUPE: untied positional correlation, with the first token untied from position. arXiv 2006.15595.

l_ij = <q_i, k_j> / sqrt(2D) + reset(<p_i U_Q, p_j U_K> / sqrt(2D) [+ b_{i-j}]),
    p = LayerNorm(table)
TUPE-A has no b, TUPE-R T5's. Two terms of unit variance share the factor sqrt(2D). All layers
share all parameters. Of the paper's reset of [CLS] a causal decoder keeps one part: the positional
logit of every token towards the first becomes a learned number theta per head (row 0 sees only
itself). It needs BOS in place 0 of every window.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from extrap.model.functional import between, check_even, sinusoid, table_rows
from extrap.model.scheme import HOOKS, Scheme, Shape, Size, Where


class TUPE(Scheme):
    """Untied positional correlation: positional logits added to the logits of content.

    Args:
        relative: the b_{i-j} of TUPE-R, a scheme that is a bias by distance alone; null for TUPE-A
        rows: size of the table of p in tokens; null stands for L; only randomised positions need
            more
        past: p past the table: `raise` leaves it undefined, `clamp` repeats the last row,
            `sinusoidal` uses sinusoids for p everywhere
        reset: `bos`, the positional logit of the first token is learned, or `none`

    Parameters: rows x C (not if sinusoidal), 2 C (norm), 2 C x C, H (not without reset). U starts
    as N(0, 1/C), theta as 0; the authors' code has N(0, .02**2), biases, and theta from a row of p.
    Raises ValueError for another kind of relative, rows < L, and for sinusoids of odd width or with
    rows; warns for rows > L.

    Kind: absolute
    Past L: undefined; raise, clamp or sinusoidal by choice
    """

    full_width = True

    def __init__(
        self,
        shape: Shape,
        relative: Scheme | None = None,
        rows: Size | None = None,
        past: Literal["raise", "clamp", "sinusoidal"] = "raise",
        reset: Literal["bos", "none"] = "bos",
    ):
        super().__init__(shape)
        if relative is not None and not is_distance_bias(relative):
            raise ValueError(
                f"relative={type(relative).__name__}: must be a scheme that is only a bias by "
                "distance, such as T5"
            )
        self.relative = relative
        self.table = None
        if past == "sinusoidal":
            check_even(shape.dim, f"past={past}: sinusoids")
            if rows is not None:
                raise ValueError(f"rows={rows}: past=sinusoidal has no table; give null")
        else:
            table = torch.randn(table_rows(rows, shape.length), shape.dim)
            self.table = nn.Parameter(0.02 * table)
            if past == "raise":
                self.limit = len(self.table)
        self.norm = nn.LayerNorm(shape.dim)
        C = shape.dim
        query = torch.randn(C, C)
        key = torch.randn(C, C)
        self.query = nn.Parameter(query * C**-0.5)
        self.key = nn.Parameter(key * C**-0.5)
        self.theta = nn.Parameter(torch.zeros(shape.heads)) if reset == "bos" else None

    @property
    def scale(self) -> float:
        return (2 * self.shape.head_dim) ** -0.5

    def place(self, t: Tensor) -> Tensor:
        """Returns normed p at coordinates, (T,) -> (T, C)."""
        table = self.table
        if table is None:
            p = sinusoid(t, self.shape.dim).to(self.query.dtype)
        else:
            p = between(lambda n: table[n], t, len(table) - 1)
        return self.norm(p)

    def projected(self, t: Tensor, w: Tensor) -> Tensor:
        """Returns p U of each head at coordinates, (T,) -> (H, T, D)."""
        projected = self.place(t) @ w
        return projected.unflatten(-1, (self.shape.heads, -1)).movedim(1, 0)

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        both = (at.q, self.query), (at.k, self.key)
        pq, pk = at.once(self, lambda: [self.projected(t, w) for t, w in both])
        b = pq @ pk.mT * at.scale
        if self.relative is not None:
            b = b + self.relative.distance_bias(at.distance, at.layer)
        if self.theta is None:
            return b
        theta = self.theta[:, None, None].to(b.dtype)
        return torch.where(at.j == 0, theta, b)


def is_distance_bias(scheme: Scheme) -> bool:
    """True if a scheme is a bias by distance alone."""
    others = (hook for hook in HOOKS if hook != "distance_bias")
    plain = scheme.scale == Scheme(scheme.shape).scale
    return plain and scheme.uses("distance_bias") and not scheme.uses(*others)
