"""Position interpolation: the text is squeezed into coordinates met in training. t -> t / s, the same as theta_p / s.

arXiv 2306.15595; SuperHOT, https://kaiokendev.github.io/til. Neighbours come closer than ever in training, hence it wants a short
fine-tuning.
"""

from collections.abc import Callable

from torch import Tensor

from extrap.model.card import parts
from extrap.extensions.base import SchemeExtension, check_factor, with_parts
from extrap.model.scheme import Scheme, Shape
from extrap.schemes.complex_order import ComplexOrder
from extrap.schemes.concatenated import ConcatenatedProjected, ConcatenatedSplit
from extrap.schemes.floater import Floater, FloaterQKV
from extrap.schemes.multiplicative import MultiplicativeSinusoidal
from extrap.schemes.raw_index import RawIndex
from extrap.schemes.sinusoidal import Sinusoidal
from extrap.schemes.transformer_xl import TransformerXL
from extrap.model.spectrum import turns_pairs

OF_COORDINATES = (
    *(ComplexOrder, ConcatenatedProjected, ConcatenatedSplit, Floater, FloaterQKV),
    *(MultiplicativeSinusoidal, RawIndex, Sinusoidal, TransformerXL),
)
"""Functions of a real coordinate beside the RoPE family. Tables, clips and biases of distance have methods of their own."""


class Squeezed(Scheme):
    """by(n): s for a text of n tokens."""

    def __init__(self, shape: Shape, by: Callable[[int], float]):
        super().__init__(shape)
        self.by = by

    def positions(self, t: Tensor) -> Tensor:
        return t / self.by(len(t))


class Interpolation(SchemeExtension):
    """factor: s; null is adaptive, s = max(1, T / L). Raises ValueError for a factor below 1.

    Works with rotary and sinusoidal schemes and with other functions of a real coordinate. Changes the model inside L unless adaptive.
    Source: arXiv 2306.15595
    """

    def __init__(self, factor: float | None = 8.0):
        check_factor(factor)
        self.factor = factor

    def extend(self, scheme: Scheme) -> Scheme:
        if not any(turns_pairs(part) or isinstance(part, OF_COORDINATES) for part in parts(scheme)):
            raise self.refuse(scheme, "nothing there is a function of a real coordinate (rotary, sinusoidal)")
        shape = scheme.shape
        return with_parts(scheme, Squeezed(shape, lambda n: self.effective(n, shape.length)))
