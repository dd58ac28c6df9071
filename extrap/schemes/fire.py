"""FIRE, functional interpolation for relative positions: a learned function of the distance divided
by the query's position.

b_ij = f(psi(i - j) / psi(max(L_f, i))),   psi(x) = ln(1 + |c| x),   L_f = |a| threshold
f: 1 -> hidden -> H with ReLU

The input of f lies in [0, 1] at any length. Past L_f the bias depends on i, not on i - j alone.
"""

from typing import Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.functional import table_limit
from extrap.model.scheme import Scheme, Shape, Size, Where


class FIRE(Scheme):
    """A learned function of the distance divided by the position of the query.

    Args:
        threshold: position in tokens from which on i divides; null stands for L / 4; the
            paper's 512 suits L = 2048
        hidden: width of the layer of f
        sharing: of f, c and a: `per-layer`, or `shared` by all layers (FIRE-S)

    Parameters: 2 hidden + (hidden + 1) H + 2, per layer or once; c = 0.1, a = 1 at first.
    Raises ValueError unless 1 <= threshold < L: otherwise training would never divide by i.

    Kind: relative
    Past L: defined; interpolates
    Source: arXiv 2310.04418
    """

    def __init__(
        self,
        shape: Shape,
        threshold: Size | None = None,
        hidden: Size = 32,
        sharing: Literal["per-layer", "shared"] = "per-layer",
    ):
        super().__init__(shape)
        L = shape.length
        default = max(L // 4, 1)
        last = L - 1
        self.threshold = table_limit("threshold", threshold, default, 1, last)
        layers = shape.layers if sharing == "per-layer" else 1
        self.f = nn.ModuleList(
            nn.Sequential(nn.Linear(1, hidden), nn.ReLU(), nn.Linear(hidden, shape.heads))
            for _ in range(layers)
        )
        self.c = nn.Parameter(torch.full((layers,), 0.1))
        self.a = nn.Parameter(torch.full((layers,), 1.0))

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        layer = min(at.layer, len(self.f) - 1)
        f = self.f[layer]
        x = self.places(at, layer)
        if x.device.type != "cpu" or torch.compiler.is_compiling():
            inputs = x.to(self.c.dtype)[..., None]
            return f(inputs).movedim(-1, 0)
        # f on [0, 1] is n + 1 straight pieces, n <= hidden: far fewer than its inputs
        inner, _, outer = cast("tuple[nn.Linear, nn.ReLU, nn.Linear]", f)
        w1 = inner.weight[:, 0].double()
        b1 = inner.bias.double()
        w2 = outer.weight.double()
        b2 = outer.bias.double()
        with torch.no_grad():
            knots = -b1 / w1
            inside = (knots > 0) & (knots < 1)
            edges = knots[inside].sort().values  # (n,)
            begins = F.pad(edges, (1, 0))
            ends = F.pad(edges, (0, 1), value=1.0)
            middles = (begins + ends) / 2
            inner_at = w1 * middles[:, None] + b1
            active = (inner_at > 0).double()  # (n + 1, hidden)
        slopes = w2 @ (active * w1).T
        heights = w2 @ (active * b1).T
        heights = heights + b2[:, None]  # (H, n + 1)
        places = x.detach().contiguous()
        piece = torch.bucketize(places, edges.to(x.dtype)).flatten()
        slope = slopes.to(x.dtype).index_select(1, piece)
        height = heights.to(x.dtype).index_select(1, piece)
        b = torch.addcmul(height, slope, x.flatten())
        return b.unflatten(-1, x.shape)

    def places(self, at: Where, layer: int) -> Tensor:
        """Returns the inputs of f, (Tq, Tk) in [0, 1], in float32 at least."""
        c = self.c[layer].double().abs()
        a = self.a[layer].double().abs()
        most = torch.maximum(a * self.threshold, at.q)
        divisor = torch.log1p(c * most)
        x = torch.log1p(c * at.distance) / divisor[:, None]
        dtype = torch.promote_types(self.c.dtype, torch.float32)
        return x.to(dtype)
