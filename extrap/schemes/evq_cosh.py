"""EVQ-Cosh: frequencies of RoPE spread by the quantiles of a hyperbolic cosine, fewer of them slow.
https://github.com/misaya-yang/hybrid-rope.

phi_p = 1 - arcsinh((1 - u_p) sinh tau) / tau,   theta_p = theta_0 (theta_P-1 / theta_0)**phi_p
tau = 0 is RoPE; the greater tau, the wider the slow pairs lie apart and the denser the fast ones.
fixed     u_p = p / (P - 1), theta_0 and theta_P-1 of RoPE: the ends stay
midpoint  u_p = (p + 1/2) / P, theta_p = base**-phi_p, the grid of the authors' first experiments
"""

from math import sinh
from typing import Annotated, Literal

import torch
from annotated_types import Interval
from torch import Tensor

from extrap.model.functional import frequencies
from extrap.model.rotary import Layout, Rotary
from extrap.model.scheme import Shape


class EVQCosh(Rotary):
    """Rotary position embedding with frequencies spread by the quantiles of a hyperbolic cosine.

    Args:
        tau: 0 to 20; null stands for D / sqrt(L), the authors' choice
        ends: fixed or midpoint, as above

    Raises ValueError for an odd head width, a base of 1 or less and channels that the layout does
    not pair. Extensions take the pairs by their index and their base, as those of RoPE.

    Kind: relative
    Past L: defined; slow pairs meet angles never trained
    """

    def __init__(
        self,
        shape: Shape,
        base: float = 10000.0,
        tau: Annotated[float, Interval(ge=0, le=20)] | None = None,
        ends: Literal["fixed", "midpoint"] = "fixed",
        layout: Layout = "interleaved",
    ):
        super().__init__(shape, base, layout)
        self.tau = shape.head_dim / shape.length**0.5 if tau is None else tau
        self.ends = ends

    def spectrum(self, n: int) -> Tensor:
        """theta (D/2,), float64."""
        grid = frequencies(self.shape.head_dim, self.base)
        count = len(grid)
        p = torch.arange(count, dtype=torch.float64)
        fixed = self.ends == "fixed"
        u = p / max(1, count - 1) if fixed else (p + 0.5) / count
        phi = u
        if self.tau > 1e-8:
            quantile = (1 - u) * sinh(self.tau)
            phi = 1 - quantile.asinh() / self.tau
        if fixed:
            return grid[0] * (grid[-1] / grid[0]) ** phi
        return self.base**-phi
