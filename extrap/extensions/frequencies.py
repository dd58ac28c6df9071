"""Methods that slow the pairs of rotary schemes, theta_p -> theta'_p(s); some heat logits too."""

from abc import abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor

from extrap.extensions.base import SchemeExtension, replace_parts, with_parts
from extrap.model.parts import parts
from extrap.model.scheme import Scheme, Shape, Where
from extrap.model.spectrum import Pairs, pairs, respectrum, still, turning_layers, turns_pairs
from extrap.utils.bounds import Factor


class Heat(Scheme):
    """One temperature for a whole forward, of(n) for n tokens, on all content logits."""

    def __init__(self, shape: Shape, of: Callable[[int], float]):
        super().__init__(shape)
        self.of = of

    def temperature(self, at: Where) -> Tensor:
        return torch.full((1, 1), self.of(at.length), dtype=torch.float64, device=at.q.device)


class Frequencies(SchemeExtension):
    """A method on frequencies. factor: s; null is adaptive, s = max(1, T / L) in each forward of T
    tokens.

    Works with all parts that turn pairs of channels, each by its own spectrum. Inside L it changes
    the model unless adaptive.
    """

    def __init__(self, factor: Factor | None = 8.0):
        self.factor = factor

    @abstractmethod
    def theta(self, pairs: Pairs, s: float) -> Tensor:
        """Returns the frequencies (P,) at factor s; s = 1 gives the frequencies of `pairs`."""

    def change(self, pairs: Pairs, n: int) -> Tensor:
        """Returns the frequencies (P,) of a forward of n tokens."""
        return self.theta(pairs, self.effective(n, pairs.length))

    def heat(self, n: int, length: int) -> float:
        """Returns the factor on content logits in a forward of n tokens, for a training length."""
        return 1.0

    def acts_on(self, scheme: Scheme) -> set[int]:
        turning, far = turning_layers(scheme), super().acts_on(scheme)
        if turning and not turning & far:
            raise ValueError(
                "channels turn in its local layers alone, which see no farther than in training "
                "and stay as they are"
            )
        return turning & far or far

    def extend(self, scheme: Scheme) -> Scheme:
        turning = [pairs(part) for part in parts(scheme) if turns_pairs(part)]
        if not turning:
            raise ValueError(f"{still(scheme)}, so there are no frequencies to change")
        for p in turning:
            for n in (1, 2 * p.length):  # raises now for options that do not fit the pairs
                self.change(p, n)
        extended = replace_parts(scheme, turns_pairs, lambda part: respectrum(part, self.change))
        if type(self).heat is Frequencies.heat:
            return extended
        shape = scheme.shape
        return with_parts(extended, Heat(shape, lambda n: self.heat(n, shape.length)))
