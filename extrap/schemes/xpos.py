"""xPos: RoPE whose fast pairs fade with the distance. arXiv 2212.10554.

s_ij = scale sum_p zeta_p**((i - j)/S) Re(q_p conj(k_p) e^(I (i - j) theta_p))
zeta_p = (2p/D + gamma) / (1 + gamma)

Usually written q_i zeta**(i/S), k_j zeta**(-j/S): the second factor overflows float32 at position
36 260, float16 at 4 532. Only the difference counts, so this counts positions from the middle of
each block of query rows, in float32 at least.
"""

import torch
from torch import Tensor

from extrap.model.rotary import Layout, Rotary, pairing
from extrap.model.scheme import Shape, Where, product, wide
from extrap.utils.bounds import Positive

REACH = 40.0
"""Largest logarithm of a factor; the product of two such factors fits float32. The clamp acts on
far keys, for which exp(-40) is as good as 0, and on queries only if one block of rows spans 16 000
positions to each side at the default S.
"""


class XPos(Rotary):
    """Rotary position embedding whose fast pairs fade with the distance.

    Args:
        gamma: of zeta_p above; towards infinity is RoPE
        scale_base: S, tokens over which a score fades by zeta_p

    Fading multiplies the score and hides no key: at test add a window (xpos-window). Needs the
    causal mask.

    Kind: relative
    Used by: RetNet, LongNet
    Past L: defined; works with a window
    """

    causal_only = True

    def __init__(
        self,
        shape: Shape,
        base: float = 10000.0,
        gamma: Positive = 0.4,
        scale_base: Positive = 512.0,
        layout: Layout = "interleaved",
    ):
        super().__init__(shape, base, layout)
        self.gamma = gamma
        self.scale_base = scale_base

    def fading(self) -> Tensor:
        """Returns ln(zeta) / S of each channel's pair, (D,), float64, <= 0."""
        D = self.shape.head_dim
        gamma = self.gamma
        p = torch.arange(0, D, 2, dtype=torch.float64)
        zeta = (p / D + gamma) / (1 + gamma)
        of_pair = zeta.log()[:, None].expand(-1, 2)
        fading = torch.empty(D, dtype=torch.float64)
        channels = pairing(self.layout, D)
        fading[channels] = of_pair / self.scale_base
        return fading

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        q = wide(q)
        k = wide(k)
        fading = self.fading().to(at.q.device)
        middle = (at.q[0] + at.q[-1]) / 2
        log_q = (at.q - middle)[:, None] * fading
        log_k = (middle - at.k)[:, None] * fading
        of_q = log_q.clamp(-REACH, REACH).exp()
        of_k = log_k.clamp(-REACH, REACH).exp()
        q = q * of_q.to(q.dtype)
        k = k * of_k.to(k.dtype)
        return product(q, k) * at.scale
