"""DeBERTa's disentangled attention: content to position and position to content. arXiv 2006.03654;
norm as in v2 and v3.

l_ij = (<q_i, k_j> + <q_i, Kr[r]> + <k_j, Qr[r]>) / sqrt(3D),
    Kr = P W_k, Qr = P W_q, P = LayerNorm(table),   r = min(i - j, span - 1)
The paper indexes 2 span rows, c2p by clip(i - j + span) and p2c by clip(j - i + span); its code
uses i - j for both, and a causal decoder then reaches span rows. The scale counts the terms:
sqrt(2D) with one positional term. Values carry no position.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from extrap.model.functional import by_step, gather_of_keys, table_limit
from extrap.model.scheme import Scheme, Shape, Size, Where


class DeBERTa(Scheme):
    """Disentangled attention: terms of content to position and of position to content.

    Args:
        span: number of distances with a row of their own; null stands for min(512, L / 2)
        terms: positional terms in use
        p2c_index: `code` as in the authors' code and transformers, `paper` as printed (then P has 2
            span rows, two sides of one table)

    Parameters: span x C + 2 C shared by all layers, C x C per layer and term; N(0, 0.02**2) as in
    transformers, whose Q of positions also has a bias, and v2 buckets of distance by choice. Raises
    ValueError for a span below 2, for a span whose last row training never reaches, and for the
    paper's index without both terms.

    Kind: relative
    Used by: DeBERTa v1 to v3
    Past L: clipped; all far keys share the last row
    """

    full_width = own_vectors = True

    def __init__(
        self,
        shape: Shape,
        span: Size | None = None,
        terms: Literal["both", "c2p", "p2c"] = "both",
        p2c_index: Literal["code", "paper"] = "code",
    ):
        super().__init__(shape)
        if p2c_index == "paper" and terms != "both":
            raise ValueError(
                f"p2c_index=paper, terms={terms}: the paper's index is defined with terms=both"
            )
        self.two_sided = p2c_index == "paper"
        L = shape.length
        default = min(512, L // 2)
        most = L - self.two_sided
        self.span = table_limit("span", span, default, 2, most)
        sides = 1 + self.two_sided
        table = torch.randn(self.span * sides, shape.dim)
        self.table = nn.Parameter(0.02 * table)
        self.norm = nn.LayerNorm(shape.dim)
        size = shape.layers, shape.dim, shape.dim
        self.key, self.query = (
            nn.Parameter(0.02 * torch.randn(size)) if terms in ("both", term) else None
            for term in ("c2p", "p2c")
        )

    @property
    def scale(self) -> float:
        terms = 1 + (self.key is not None) + (self.query is not None)
        return (terms * self.shape.head_dim) ** -0.5

    def rows(self, w: Tensor, at: Where) -> Tensor:
        """Returns P W of this layer, (H, rows, D)."""
        rows = self.norm(self.table) @ w[at.layer]
        return rows.unflatten(-1, (self.shape.heads, -1)).movedim(1, 0)

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        terms = []
        if self.key is not None:
            rows = self.rows(self.key, at)[:, -self.span :]
            rows = rows.to(q.dtype) * at.scale
            terms.append(by_step(q @ rows.mT, at))
        if self.query is not None:
            rows = self.rows(self.query, at).to(k.dtype) * at.scale
            if self.two_sided:
                r = self.span - at.steps.clamp(max=self.span)
            else:
                r = at.steps.clamp(max=self.span - 1)
            terms.append(gather_of_keys(k @ rows.mT, r))
        return terms[0] if len(terms) == 1 else terms[0] + terms[1]
