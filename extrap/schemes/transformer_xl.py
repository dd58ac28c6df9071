"""Transformer-XL's relative attention, which XLNet shares. arXiv 1901.02860, section 3.3; arXiv
1906.08237.

l_ij = (<q_i + u, k_j> + <q_i + v, W R_{i-j}>) / sqrt(D),
    R_n = [sin(n theta_p), cos(n theta_p)], p = 0 .. C/2 - 1 (half layout)
u and v are global biases of content and of position. Values carry no position.
"""

from math import inf
from typing import Literal

import torch
from torch import Tensor, nn

from extrap.model.functional import by_distance, check_even, frequencies, gather
from extrap.model.scheme import Scheme, Shape, Size, Where


class TransformerXL(Scheme):
    """Transformer-XL's relative positions: sinusoids of the distance and two learned vectors.

    Args:
        sharing: of u and v: `shared` by all layers as in Transformer-XL, or `per-layer` ("untied")
            as in XLNet
        clamp: greatest distance in tokens, which stands for all farther ones; null for no clamp

    W is per layer. Parameters: C x C per layer, and 2 C once or per layer; N(0, 0.02**2). Raises
    ValueError for an odd width.

    Kind: relative
    Used by: Transformer-XL, XLNet
    Past L: defined; sinusoids of untrained distances
    Source: arXiv 1901.02860, 1906.08237
    """

    full_width = own_vectors = True

    def __init__(
        self,
        shape: Shape,
        sharing: Literal["shared", "per-layer"] = "shared",
        clamp: Size | None = None,
    ):
        super().__init__(shape)
        check_even(shape.dim)
        self.clamp = inf if clamp is None else clamp
        layers = 1 if sharing == "shared" else shape.layers
        self.u, self.v = (
            nn.Parameter(0.02 * torch.randn(layers, shape.heads, 1, shape.head_dim))
            for _ in range(2)
        )
        self.w = nn.Parameter(0.02 * torch.randn(shape.layers, shape.dim, shape.dim))

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        u, v = (p[min(at.layer, len(p) - 1)].to(q.dtype) for p in (self.u, self.v))
        if at.spacing is None:
            n, index = torch.unique(at.distance, return_inverse=True)
            terms = gather(self.positional(q + v, n, at), index)
        else:
            n = torch.arange(len(at.j), device=at.j.device, dtype=torch.float64) * at.spacing
            terms = by_distance(self.positional(q + v, n, at), at)
        return u * at.scale @ k.transpose(-1, -2) + terms

    def positional(self, q: Tensor, n: Tensor, at: Where) -> Tensor:
        """Returns <q_i, W R_n> / sqrt(D): (B, H, Tq, D), distances (N,) -> (B, H, Tq, N)."""
        angle = n.clamp(max=self.clamp)[:, None] * frequencies(self.shape.dim).to(n.device)
        r = torch.cat([angle.sin(), angle.cos()], -1).to(q.dtype)
        keys = r @ self.w[at.layer].to(q.dtype).T
        keys = keys.unflatten(-1, (self.shape.heads, -1))
        # scale the small factor: scaling the product would be a pass over all pairs
        return q * at.scale @ keys.movedim(1, 0).transpose(-1, -2)
