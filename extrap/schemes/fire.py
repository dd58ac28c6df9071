"""FIRE, functional interpolation for relative positions: a learned function of the distance over the query's own place.

b_ij = f(psi(i - j) / psi(max(L_f, i))),   psi(x) = ln(1 + |c| x),   L_f = |a| threshold,   f: 1 -> hidden -> H with ReLU
The input of f lies in [0, 1] at any length. Once i exceeds L_f the bias depends on i, not on i - j alone.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from extrap.model.functional import table_limit
from extrap.model.scheme import Scheme, Shape, Where


class FIRE(Scheme):
    """threshold: where dividing by i sets in, in tokens; null stands for L / 4. The paper's 512 suits L = 2048.

    sharing of f, c and a: `per-layer`, or `shared` by all layers (FIRE-S).
    Parameters: 2 hidden + (hidden + 1) H + 2, per layer or once; c = 0.1, a = 1 at first. Raises ValueError for hidden < 1 and
    unless 1 <= threshold < L: otherwise dividing by i would first happen past L.

    Kind: relative
    Used by: -
    Past L: defined; interpolates
    Source: arXiv 2310.04418
    """

    def __init__(
        self,
        shape: Shape,
        threshold: int | None = None,
        hidden: int = 32,
        sharing: Literal["per-layer", "shared"] = "per-layer",
    ):
        super().__init__(shape)
        if hidden < 1:
            raise ValueError(f"hidden={hidden}: at least 1")
        self.threshold = table_limit("threshold", threshold, max(shape.length // 4, 1), 1, shape.length - 1)
        layers = shape.layers if sharing == "per-layer" else 1
        self.f = nn.ModuleList(nn.Sequential(nn.Linear(1, hidden), nn.ReLU(), nn.Linear(hidden, shape.heads)) for _ in range(layers))
        self.c, self.a = (nn.Parameter(torch.full((layers,), value)) for value in (0.1, 1.0))

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        layer = min(at.layer, len(self.f) - 1)
        x = self.interpolated(at.distance, at.q, layer).to(self.c.dtype)
        return self.f[layer](x[..., None]).movedim(-1, 0)

    def interpolated(self, d: Tensor, t: Tensor, layer: int) -> Tensor:
        """(Tq, Tk) distances, (Tq,) coordinates of the queries -> (Tq, Tk) in [0, 1], float64."""
        c, a = self.c[layer].double().abs(), self.a[layer].double().abs()
        return torch.log1p(c * d) / torch.log1p(c * torch.maximum(a * self.threshold, t))[:, None]
