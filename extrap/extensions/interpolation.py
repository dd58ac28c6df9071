"""Position interpolation: it squeezes the text into trained coordinates. t -> t / s, the same as
theta_p / s.

arXiv 2306.15595; SuperHOT, https://kaiokendev.github.io/til. Neighbours come closer than ever in
training, so it needs a short fine-tuning.
"""

from collections.abc import Callable

from torch import Tensor

from extrap.extensions.base import SchemeExtension, with_parts
from extrap.extensions.probe import check_distances, reads_coordinates
from extrap.model.distance_maps import Divided
from extrap.model.parts import parts
from extrap.model.scheme import Scheme, Shape
from extrap.model.spectrum import turns_pairs
from extrap.utils.bounds import Factor


class Squeezed(Scheme):
    """Coordinates divided by s = by(n) in a text of n tokens."""

    def __init__(self, shape: Shape, by: Callable[[int], float]):
        super().__init__(shape)
        self.by = by

    def positions(self, t: Tensor) -> Tensor:
        return t / self.by(len(t))


class Interpolation(SchemeExtension):
    """Position interpolation: all coordinates are divided by s.

    Args:
        factor: s; null is adaptive, s = max(1, T / L)

    Works with rotary and sinusoidal schemes and other functions of a real coordinate; tables, clips
    and biases of distance have methods of their own. Changes the model inside L unless adaptive.
    """

    def __init__(self, factor: Factor | None = 8.0):
        self.factor = factor

    def check(self, scheme: Scheme) -> None:
        """Raises ValueError for a scheme that does not read squeezed coordinates."""
        if not any(turns_pairs(part) or reads_coordinates(part) for part in parts(scheme)):
            raise ValueError(
                "nothing there is a function of a real coordinate (rotary, sinusoidal)"
            )

    def extend(self, scheme: Scheme) -> Scheme:
        self.check(scheme)
        return with_parts(scheme, Squeezed(scheme.shape, self._by(scheme.shape.length)))

    def extend_layers(self, scheme: Scheme) -> Scheme:
        """Divides distances. Raises ValueError unless attention depends on the distance: all layers
        read positions that a scheme adds to tokens.
        """
        self.check(scheme)
        check_distances(scheme)
        return Divided(scheme, self._by(scheme.shape.length))

    def _by(self, length: int) -> Callable[[int], float]:
        return lambda n: self.effective(n, length)


def spread(scheme: Scheme) -> Scheme:
    """Returns the scheme with coordinates spread over the training length L in a text of T tokens:
    t L / T. Raises ValueError as Interpolation does.
    """
    Interpolation().check(scheme)
    L = scheme.shape.length
    return with_parts(scheme, Squeezed(scheme.shape, lambda n: n / L))
