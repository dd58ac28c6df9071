"""Interpolation of a bias: its distances divided by s. arXiv 2310.13017 (ALiBi).

b(n) -> b(n / s): slopes m / s in ALiBi, n / s in KERPLE and Sandwich, bucket(floor(n / s)) in T5.
With s = max(1, T / L) nothing changes up to L. We know the abstract of the paper alone; divided
slopes are our reading of its linear interpolation.
"""

from extrap.extensions.interpolation import Interpolation
from extrap.extensions.probe import moves_with_coordinates
from extrap.model.parts import parts
from extrap.model.scheme import Scheme
from extrap.utils.bounds import Factor


class BiasInterpolation(Interpolation):
    """Interpolation of a bias: distances are divided by s before the bias reads them.

    Args:
        factor: s; null is adaptive, s = max(1, T / L)

    Works with biases that depend on the distance alone.
    """

    def __init__(self, factor: Factor | None = None):
        super().__init__(factor)

    def check(self, scheme: Scheme) -> None:
        if not scheme.uses("distance_bias"):
            raise ValueError(
                "it has no bias that is a function of the distance (ALiBi, KERPLE, Sandwich, T5)"
            )
        if scheme.uses("rotate"):
            raise ValueError(
                "its rotation depends on the same distances and would be interpolated with the bias"
            )
        if moved := [part for part in parts(scheme) if moves_with_coordinates(part)]:
            raise ValueError(
                f"{type(moved[0]).__name__} reads the same coordinates and would be interpolated "
                "with the bias"
            )
