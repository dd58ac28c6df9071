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
        self.raw1, self.raw2 = (
            nn.Parameter(self.inverse(torch.rand(shape.heads) * high)) for high in self.highest
        )

    @staticmethod
    def inverse(r: Tensor) -> Tensor:
        """Returns the raw parameter of a value r > 0.01, of a value just above it for smaller r."""
        return torch.expm1((r - FLOOR).clamp(min=1e-3)).log()

    def r(self, raw: Tensor, d: Tensor) -> Tensor:
        return (F.softplus(raw) + FLOOR).to(d.dtype).view(-1, *[1] * d.dim())


class KerpleLog(Kerple):
    """KERPLE-log, the bias -r1 ln(1 + r2 n).

    Kind: relative
    Past L: defined; decays like a logarithm
    """

    highest = (2.0, 1.0)

    def distance_bias(self, d: Tensor, layer: int) -> Tensor:
        return -self.r(self.raw1, d) * torch.log1p(self.r(self.raw2, d) * d)


class KerplePower(Kerple):
    """KERPLE-power, the bias -r1 n**r2.

    Kind: relative
    Past L: defined; r2 = 1 is ALiBi with learned slopes
    """

    highest = (1.0, 2.0)

    def distance_bias(self, d: Tensor, layer: int) -> Tensor:
        r2 = self.r(self.raw2, d)
        # the gradient passes, so that r2 can return from above 2
        bounded = r2 + (r2.clamp(max=2.0) - r2).detach()
        return -self.r(self.raw1, d) * d.pow(bounded)
