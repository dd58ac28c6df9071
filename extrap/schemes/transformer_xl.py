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
        size = layers, shape.heads, 1, shape.head_dim
        u = torch.randn(size)
        v = torch.randn(size)
        w = torch.randn(shape.layers, shape.dim, shape.dim)
        self.u = nn.Parameter(0.02 * u)
        self.v = nn.Parameter(0.02 * v)
        self.w = nn.Parameter(0.02 * w)

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        layer = min(at.layer, len(self.u) - 1)
        u = self.u[layer].to(q.dtype)
        v = self.v[layer].to(q.dtype)
        if at.spacing is None:
            n, index = torch.unique(at.distance, return_inverse=True)
            terms = self.positional(q + v, n, at)
            position = gather(terms, index)
        else:
            back = torch.arange(len(at.j), device=at.j.device, dtype=torch.float64)
            n = back * at.spacing
            terms = self.positional(q + v, n, at)
            position = by_distance(terms, at)
        content = u * at.scale @ k.mT
        return content + position

    def positional(self, q: Tensor, n: Tensor, at: Where) -> Tensor:
        """Returns <q_i, W R_n> / sqrt(D): (B, H, Tq, D), distances (N,) -> (B, H, Tq, N)."""
        theta = frequencies(self.shape.dim).to(n.device)
        distance = n.clamp(max=self.clamp)
        angle = distance[:, None] * theta
        r = torch.cat([angle.sin(), angle.cos()], -1)
        r = r.to(q.dtype)
        w = self.w[at.layer].to(q.dtype)
        keys = r @ w.T
        keys = keys.unflatten(-1, (self.shape.heads, -1)).movedim(1, 0)
        # scale the small factor: scaling the product would be a pass over all pairs
        return q * at.scale @ keys.mT
