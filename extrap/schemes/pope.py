"""PoPE, polar coordinate positional embedding: content is the length of a channel, position its
angle. arXiv 2509.10534.

l_ij = sum_c m(q_ic) m(k_jc) cos((i - j) theta_c - delta_c) / sqrt(D),   m(x) = softplus(x),
theta_c = base**(-c/D), c = 0 .. D-1,   delta_c in -2 pi .. 0, learned
In RoPE the content of two channels has an angle, to which position adds; here content has no angle,
and every channel has a frequency. delta adds to the angle of keys.
"""

from math import pi
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.functional import frequencies
from extrap.model.scheme import Scheme, Shape, Where, wide
from extrap.utils.bounds import Base


class PoPE(Scheme):
    """Polar coordinate embedding: content sets the length of a channel, position its angle.

    Args:
        base: of the frequencies theta_p
        delta: zero at first, or uniform in -2 pi .. 0. A delta that steps over a bound stays there
            and learns no more; of those that begin at zero, a bound, about half do so at once

    Parameters: D per head and layer. Rotated queries and keys are 2 D wide. A stack
    refuses parts whose own vectors have D channels (Shaw, CoPE, DeBERTa, Transformer-XL). Raises
    ValueError for keys that heads share.

    Kind: relative
    Past L: defined; slow channels meet angles never trained
    """

    own_keys = by_phase = widens = True

    def __init__(
        self, shape: Shape, base: Base = 10000.0, delta: Literal["zero", "uniform"] = "zero"
    ):
        super().__init__(shape)
        self.base = base
        start = torch.zeros(shape.layers, shape.heads, shape.head_dim)
        if delta == "uniform":
            start.uniform_(-2 * pi, 0)
        self.delta = nn.Parameter(start)

    def spectrum(self, n: int) -> Tensor:
        """theta (D,), float64."""
        return frequencies(2 * self.shape.head_dim, self.base)

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        theta = self.spectrum(at.length).to(at.q.device)
        delta = self.delta[at.layer].clamp(-2 * pi, 0)
        of_q = at.q[:, None] * theta
        of_k = at.k[:, None] * theta + delta.double()[:, None]
        return polar(q, of_q), polar(k, of_k)

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        """The default; overridden because fused kernels need queries as wide as values."""
        return super().score(q, k, at)


def polar(x: Tensor, angle: Tensor) -> Tensor:
    """Returns softplus(x) cos, softplus(x) sin: (..., T, D) -> (..., T, 2 D), angles in float64."""
    length = F.softplus(wide(x))
    cos = angle.cos().to(length.dtype)
    sin = angle.sin().to(length.dtype)
    real = length * cos
    imaginary = length * sin
    return torch.cat([real, imaginary], -1).to(x.dtype)
