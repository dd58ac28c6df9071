"""Methods that slow the pairs of rotary schemes, theta_p -> theta'_p(s); some heat logits too."""

from abc import abstractmethod
from collections.abc import Callable
from math import sqrt
from typing import Literal

import torch
from torch import Tensor

from extrap.extensions.base import SchemeExtension, replace_parts, with_parts
from extrap.model.parts import parts
from extrap.model.rotary import Rotary
from extrap.model.scheme import Scheme, Shape, Where
from extrap.model.spectrum import Pairs, pairs, respectrum, still, turning_layers, turns_pairs
from extrap.model.stack import Stack
from extrap.utils.bounds import Factor

Temperature = Literal["logits", "channels"]
"""What the temperature of a method multiplies. logits: all content logits. channels: the channels
of queries and keys that turn, by the root of the factor on logits, as transformers does.
"""


class Heat(Scheme):
    """One temperature for a whole forward, of(n) for n tokens, on all content logits."""

    def __init__(self, shape: Shape, of: Callable[[int], float]):
        super().__init__(shape)
        self.of = of

    def temperature(self, at: Where) -> Tensor:
        return torch.full((1, 1), self.of(at.length), dtype=torch.float64, device=at.q.device)


class Louder(Scheme):
    """Channels of queries and keys that turn times a number, of(n) for n tokens."""

    def __init__(self, shape: Shape, channels: list[int], of: Callable[[int], float]):
        super().__init__(shape)
        self.channels = channels
        self.of = of

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        by = q.new_ones(q.shape[-1])
        by[self.channels] = self.of(at.length)
        return q * by, k * by


class Frequencies(SchemeExtension):
    """A method on frequencies.

    Args:
        factor: s; null is adaptive, s = max(1, T / L) in each forward of T tokens

    Works with all parts that turn pairs of channels, each by its own spectrum. Inside L it changes
    the model unless adaptive.
    """

    temperature: Temperature | None = None
    """None: channels in a published checkpoint, logits in other models."""

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

    def amplitude(self, n: int, length: int) -> float:
        """Returns the factor on channels that turn, under temperature=channels."""
        return sqrt(self.heat(n, length))

    def acts_on(self, scheme: Scheme) -> set[int]:
        turning = turning_layers(scheme)
        far = super().acts_on(scheme)
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
        shape = scheme.shape
        heats = type(self).heat is not Frequencies.heat
        turning_parts = [part for part in parts(scheme) if turns_pairs(part)]
        published = all(isinstance(part, Rotary) and part.published for part in turning_parts)
        channels = self.temperature == "channels" or (self.temperature is None and published)
        if heats and channels:
            return replace_parts(scheme, turns_pairs, self._louder)
        extended = replace_parts(scheme, turns_pairs, lambda part: respectrum(part, self.change))
        if not heats:
            return extended
        return with_parts(extended, Heat(shape, lambda n: self.heat(n, shape.length)))

    def _louder(self, part: Scheme) -> Scheme:
        """Returns a part at the new frequencies whose channels that turn are louder. Raises
        ValueError for a part that turns no pairs of channels of queries and keys.
        """
        if not isinstance(part, Rotary):
            raise ValueError("temperature=channels needs queries and keys that turn")
        if part.louder is None:
            raise ValueError(
                "temperature=channels: a norm behind its rotation mixes channels that turn with "
                "others; temperature=logits works there"
            )
        turning = 2 * len(pairs(part).theta)
        order = part.layout if isinstance(part.layout, list) else list(range(turning))
        slower = respectrum(part, self.change)
        shape = part.shape
        if not part.louder:
            return slower
        louder = Louder(shape, order[:turning], lambda n: self.amplitude(n, shape.length))
        return Stack(shape, [slower, louder])
