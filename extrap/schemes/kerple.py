"""KERPLE: kernelised relative biases, two learned numbers per head shared by all layers. arXiv
2205.09921.

log:    b_ij = -r1 ln(1 + r2 (i - j)),  r1 ~ U(0, 2), r2 ~ U(0, 1) at first
power:  b_ij = -r1 (i - j)**r2,         r1 ~ U(0, 1), r2 ~ U(0, 2) at first, r2 <= 2
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.scheme import Scheme, Shape

FLOOR = 0.01


class Kerple(Scheme):
    """A bias by distance with two learned numbers per head.

    r1, r2 >= 0.01 through a softplus: a parameter never leaves its domain, and its gradient never
    vanishes. Parameters: 2 H. Defined at every position.
    """

    highest: tuple[float, float]
    """Upper ends of the uniform draws of r1 and r2."""

    def __init__(self, shape: Shape):
        super().__init__(shape)
        high1, high2 = self.highest
        r1 = torch.rand(shape.heads) * high1
        r2 = torch.rand(shape.heads) * high2
        self.raw1 = nn.Parameter(self.inverse(r1))
        self.raw2 = nn.Parameter(self.inverse(r2))

    @staticmethod
    def inverse(r: Tensor) -> Tensor:
        """Returns the raw parameter of a value r > 0.01, of a value just above it for smaller r."""
        above = (r - FLOOR).clamp(min=1e-3)
        return torch.expm1(above).log()

    def r(self, raw: Tensor, d: Tensor) -> Tensor:
        r = F.softplus(raw) + FLOOR
        return r.to(d.dtype).view(-1, *[1] * d.dim())


class KerpleLog(Kerple):
    """KERPLE-log, the bias -r1 ln(1 + r2 n).

    Kind: relative
    Past L: defined; decays like a logarithm
    """

    highest = (2.0, 1.0)

    def distance_bias(self, d: Tensor, layer: int) -> Tensor:
        r1 = self.r(self.raw1, d)
        r2 = self.r(self.raw2, d)
        return -r1 * torch.log1p(r2 * d)


class KerplePower(Kerple):
    """KERPLE-power, the bias -r1 n**r2.

    Kind: relative
    Past L: defined; r2 = 1 is ALiBi with learned slopes
    """

    highest = (1.0, 2.0)

    def distance_bias(self, d: Tensor, layer: int) -> Tensor:
        r1 = self.r(self.raw1, d)
        r2 = self.r(self.raw2, d)
        # the gradient passes, so that r2 can return from above 2
        bounded = r2 + (r2.clamp(max=2.0) - r2).detach()
        return -r1 * d.pow(bounded)
