"""GAPE, gated adaptive positional encoding: RoPE, and a penalty on distance that the query sets and
a key may escape. arXiv 2605.10414.

s_ij = <R_i q_i, R_j k_j> / sqrt(D) + Gamma g_i (j (1 - l_j) + i l_j) / T
g_i = softplus(w_g q_i + b_g),   l_j = sigmoid(w_l k_j + b_l),   Gamma = softplus(gamma) of a head
Without Gamma g_i i / T, which a softmax does not see, the last term is -Gamma g_i (1 - l_j) (i - j)
/ T: an ALiBi of slope Gamma g_i / T that spares landmarks, keys of l_j = 1. Here it is computed so.

We read the formulas on the page of the second author
(alessioborgi.github.io/blog/transformers/gape-paper), who quotes the paper; an earlier version of
that page has g_q(q_i) g_k(k_j) instead, and no distance. It does not say what T is: here the
training length, so that a longer text changes no logit. Initial values are ours.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.functional import wide
from extrap.model.rotary import Layout, turn
from extrap.model.scheme import Shape, Where
from extrap.schemes.rope import RoPE


class GAPE(RoPE):
    """RoPE with a gated penalty on distance, which the query sets and a key may escape.

    Args:
        base, layout: as in RoPE

    Gates read queries and keys as they are before they turn.

    Parameters: layers x H (2 D + 3); w ~ N(0, 0.02**2), b = 0, Gamma = 1. Raises ValueError as RoPE
    does, and for keys that heads share.

    Kind: relative
    Past L: defined; the penalty grows on, slow pairs meet angles never trained
    """

    own_keys = own_vectors = True

    def __init__(self, shape: Shape, base: float | None = 10000.0, layout: Layout = "interleaved"):
        super().__init__(shape, base, layout)
        of_head = (shape.layers, shape.heads)
        w = torch.randn(2, *of_head, shape.head_dim)
        self.w = nn.Parameter(0.02 * w)
        self.b = nn.Parameter(torch.zeros(2, *of_head))
        one = torch.full(of_head, 1.0)
        self.gamma = nn.Parameter(one.expm1().log())  # softplus(gamma) = 1

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        gate_logit = self._read(0, q, at.q, at)
        landmark_logit = self._read(1, k, at.k, at)
        g = F.softplus(gate_logit)
        landmark = torch.sigmoid(landmark_logit)
        gamma = F.softplus(self.gamma[at.layer])
        slope = gamma[:, None] * g
        far = at.distance.to(slope.dtype) / self.shape.length
        of_query = -slope[..., :, None]
        of_key = (1 - landmark)[..., None, :]
        penalty = of_query * of_key
        return penalty * far

    def _read(self, gate: int, x: Tensor, t: Tensor, at: Where) -> Tensor:
        """Returns the logit of a gate for rotated queries or keys at coordinates t: (B, H, T)."""
        back = self.phases(t, at, x.dtype).conj()
        before = wide(turn(x, back, self.layout))
        w = self.w[gate, at.layer].to(before.dtype)
        b = self.b[gate, at.layer].to(before.dtype)
        read = (before * w[:, None]).sum(-1)
        return read + b[:, None]
