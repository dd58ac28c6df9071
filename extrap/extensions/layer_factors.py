"""A factor for each layer: position interpolation whose factor follows a Bezier curve over depth.
arXiv 2606.27705 (LPES).

D_ij = n / s_l in layer l,   n = i - j
s_l = sum_m C(M, m) x**m (1 - x)**(M - m) c_m,   x = l / (layers - 1), c_0 .. c_M the controls
One control is interpolation, two are a line. The method is for records in the middle of texts
within L. The paper searches the controls by a genetic algorithm, which is left out here; evenly
spaced controls and their default, the range of Ms-PoE, are ours: we had its abstract and reviews.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from math import comb
from typing import Annotated, cast

from annotated_types import MinLen
from torch import nn

from extrap.extensions.base import SchemeExtension
from extrap.extensions.interpolation import Interpolation
from extrap.extensions.probe import check_distances
from extrap.model.distance_maps import Divided
from extrap.model.scheme import Scheme, Shape
from extrap.model.wrapper import Wrapper
from extrap.utils.bounds import Factor

Controls = Annotated[Sequence[Factor], MinLen(1)]


class PerLayer(Wrapper):
    """A scheme of its own in every layer, from the first on."""

    def __init__(self, shape: Shape, schemes: list[Scheme]):
        super().__init__(shape)
        self.schemes = nn.ModuleList(schemes)

    def in_layer(self, layer: int | None) -> Scheme:
        return cast(Scheme, self.schemes[layer or 0])

    def mapped(self, change: Callable[[Scheme], Scheme]) -> Scheme:
        schemes = [cast(Scheme, one).mapped(change) for one in self.schemes]
        return PerLayer(self.shape, schemes)


class LayerFactors(SchemeExtension):
    """Position interpolation with a factor for each layer, on a Bezier curve over depth.

    Args:
        controls: c_0 .. c_M, factors from the first layer to the last, each 1 or more

    Works with schemes whose attention depends on the distance in tokens by a function of a real
    coordinate. Changes the model inside L.
    """

    def __init__(self, controls: Controls = (1.2, 1.8)):
        self.controls = list(controls)

    def curve(self, layer: int, layers: int) -> float:
        """Returns s_l."""
        x = layer / max(1, layers - 1)
        M = len(self.controls) - 1
        s = 0.0
        for m, c in enumerate(self.controls):
            share = comb(M, m) * x**m * (1 - x) ** (M - m)
            s += share * c
        return s

    def extend(self, scheme: Scheme) -> Scheme:
        Interpolation().check(scheme)
        check_distances(scheme)
        layers = scheme.shape.layers
        divided = [self.divided(scheme, layer, layers) for layer in range(layers)]
        return PerLayer(scheme.shape, divided)

    def divided(self, scheme: Scheme, layer: int, layers: int) -> Scheme:
        """Returns a copy of a scheme for one layer, with the same parameters."""
        shared = {id(p): p for p in scheme.parameters()}
        copy = deepcopy(scheme, shared)
        s = self.curve(layer, layers)
        return Divided(copy, lambda n: s)
