"""ASEntmax, adaptive-scalable entmax: sparse weights whose sharpness follows the number of keys.
arXiv 2506.16640.

a_ij = relu(c_i s_ij / 2 - tau_i)**2,  tau_i such that the row sums to 1 (1.5-entmax, 1905.05702)
c_i = delta + softplus(u x_i) (ln (n_i + 1))**(spread tanh(w x_i)),   n_i visible keys of query i
    (x: normed input of the layer)
Keys far enough below the best get exactly 0, so that weights do not dilute as the text grows. ln (n
+ 1) as in the authors' code. The temperature multiplies content logits alone, not biases.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.scheme import Scheme, Shape, Where, wide
from extrap.utils.bounds import NotNegative

START = 0.02
"""Deviation of the first u and w: the authors' layers begin as those of Gemma 2."""


def entmax15(s: Tensor) -> Tensor:
    """Returns 1.5-entmax over the last axis; 0 for entries of -inf.

    Sorting finds tau, without gradients. One Newton step, which does not move tau, carries them: d
    tau / d z = [z - tau]_+ / sum [z - tau]_+.
    """
    top = s.detach().amax(-1, keepdim=True)
    z = (s - top) / 2
    z = z.clamp(min=-1)  # tau >= -1: smaller entries get 0
    tau = sorted_threshold(z)
    above = (z - tau).relu()
    total = above.square().sum(-1, keepdim=True)
    slope = 2 * above.sum(-1, keepdim=True).detach()
    tau = tau + (total - 1) / slope
    return (z - tau).relu().square()


@torch.no_grad()
def sorted_threshold(z: Tensor) -> Tensor:
    """Returns tau (..., 1), at which sum [z - tau]_+**2 over the last axis is 1."""
    down = z.sort(-1, descending=True).values
    keys = z.shape[-1]
    n = torch.arange(1, keys + 1, device=z.device, dtype=z.dtype)
    mean = down.cumsum(-1) / n
    squares = down.square().cumsum(-1)
    spread = squares - n * mean.square()
    rest = (1 - spread) / n
    tau = mean - rest.clamp(min=0).sqrt()
    support = (tau <= down).sum(-1, keepdim=True)
    return tau.gather(-1, support - 1)


class ASEntmax(Scheme):
    """Adaptive-scalable entmax: sparse weights whose sharpness follows the number of keys.

    Args:
        delta: least temperature
        spread: the exponent of ln (n + 1) lies between -spread and spread

    Parameters: 2 C H per layer from N(0, .02**2).

    Kind: modifier
    Past L: defined; sharper as keys grow in number
    """

    def __init__(self, shape: Shape, delta: NotNegative = 1.0, spread: NotNegative = 2.0):
        super().__init__(shape)
        self.delta = delta
        self.spread = spread
        size = (shape.layers, shape.heads, shape.dim)
        self.u = nn.Parameter(START * torch.randn(size))
        self.w = nn.Parameter(START * torch.randn(size))

    def temperature(self, at: Where) -> Tensor:
        x = at.x[:, at.i]  # (B, Tq, C)
        u = self.u[at.layer].to(x.dtype)
        w = self.w[at.layer].to(x.dtype)
        rise = wide(F.softplus(F.linear(x, u)))  # (B, Tq, H)
        share = F.linear(x, w).tanh()
        exponent = wide(self.spread * share)
        log_n = (at.count + 1).to(rise.dtype).log()
        grown = log_n[:, None] ** exponent
        c = self.delta + rise * grown
        return c.transpose(1, 2)[..., None]

    def normalise(self, s: Tensor, at: Where) -> Tensor:
        return entmax15(s)
