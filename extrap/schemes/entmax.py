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


def entmax15(s: Tensor) -> Tensor:
    """Returns 1.5-entmax over the last axis; 0 for entries of -inf.

    Sorting finds tau, without gradients. One Newton step, which does not move tau, carries them: d
    tau / d z = [z - tau]_+ / sum [z - tau]_+.
    """
    z = (s - s.detach().amax(-1, keepdim=True)) / 2
    z = z.clamp(min=-1)  # tau >= -1: smaller entries get 0
    with torch.no_grad():
        down = z.sort(-1, descending=True).values
        n = torch.arange(1, z.shape[-1] + 1, device=z.device, dtype=z.dtype)
        mean = down.cumsum(-1) / n
        spread = down.square().cumsum(-1) - n * mean.square()
        tau = mean - ((1 - spread) / n).clamp(min=0).sqrt()
        support = (tau <= down).sum(-1, keepdim=True)
        tau = tau.gather(-1, support - 1)
    above = (z - tau).relu()
    excess = above.square().sum(-1, keepdim=True) - 1
    tau = tau + excess / (2 * above.sum(-1, keepdim=True).detach())
    return (z - tau).relu().square()


class ASEntmax(Scheme):
    """Adaptive-scalable entmax: sparse weights whose sharpness follows the number of keys.

    Args:
        delta: least temperature
        spread: the exponent of ln (n + 1) lies between -spread and spread

    Parameters: 2 C H per layer.

    Kind: modifier
    Past L: defined; sharper as keys grow in number
    """

    def __init__(self, shape: Shape, delta: NotNegative = 1.0, spread: NotNegative = 2.0):
        super().__init__(shape)
        self.delta, self.spread = delta, spread
        size = (shape.layers, shape.heads, shape.dim)
        self.u, self.w = (nn.Parameter(torch.randn(size) * shape.dim**-0.5) for _ in range(2))

    def temperature(self, at: Where) -> Tensor:
        x = at.x[:, at.i]  # (B, Tq, C)
        u, w = (p[at.layer].to(x.dtype) for p in (self.u, self.w))
        rise = wide(F.softplus(F.linear(x, u)))  # (B, Tq, H)
        exponent = wide(self.spread * F.linear(x, w).tanh())
        grown = (at.count + 1).to(rise.dtype).log()[:, None] ** exponent
        return (self.delta + rise * grown).transpose(1, 2)[..., None]

    def normalise(self, s: Tensor, at: Where) -> Tensor:
        return entmax15(s)
