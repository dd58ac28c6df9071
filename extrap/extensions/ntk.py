"""NTK-aware scaling: it interpolates slow pairs and keeps fast ones nearly as they are. s is the
factor, d the channels that turn.

NTK       base' = base s**(d/(d-2)): keeps pair 0, slows the last by s.
          https://www.reddit.com/r/LocalLLaMA/comments/14lz7j5
NTKOld    base' = base s: the radix base**(2/d) grows by s**(2/d). https://kexue.fm/archives/9675
NTKFixed  theta'_p = theta_p / s**(2(p+1)/d): slows every pair, the first too, the last by s.
          https://kexue.fm/archives/9706
NTKMixed  theta'_p = theta_p / exp(a (p+1)**b), a (d/2)**b = ln s: b = 1 is NTKFixed, b = 0
          interpolation. Same source.

Pairs count from p = 0, the sources' digits from 1. NTK reaches about half of s L: choose s twice as
large as the text needs.
"""

from math import log

from torch import Tensor

from extrap.extensions.frequencies import Frequencies
from extrap.model.spectrum import Pairs
from extrap.utils.bounds import Factor, NotNegative


def bloc97(pairs: Pairs, s: float) -> Tensor:
    """Returns theta_p s**(-2p/(d-2)) (P,); a grid of one pair stays."""
    last = max(pairs.width // 2 - 1, 1)
    return pairs.theta * s ** (-pairs.index / last)


class NTK(Frequencies):
    """NTK-aware scaling by a larger base: the last pair slows by s.

    Source: https://www.reddit.com/r/LocalLLaMA/comments/14lz7j5
    """

    def theta(self, pairs: Pairs, s: float) -> Tensor:
        return bloc97(pairs, s)


class NTKOld(Frequencies):
    """NTK-aware scaling by the radix: the base times s.

    Source: https://kexue.fm/archives/9675
    """

    def theta(self, pairs: Pairs, s: float) -> Tensor:
        return pairs.theta * s ** (-2 * pairs.index / pairs.width)


class NTKFixed(Frequencies):
    """Fixed NTK: every pair slows, the first too, and the last by s.

    Source: https://kexue.fm/archives/9706
    """

    def theta(self, pairs: Pairs, s: float) -> Tensor:
        digit = pairs.index + 1
        return pairs.theta * s ** (-2 * digit / pairs.width)


class NTKMixed(Frequencies):
    """Mixed NTK: a slowing of the pairs whose shape over the pairs is an option.

    Args:
        b: the shape of the slowing over the pairs; 0.625 in the text, 0.75 in the author's code
    """

    def __init__(self, factor: Factor | None = 8.0, b: NotNegative = 0.625):
        super().__init__(factor)
        self.b = b

    def theta(self, pairs: Pairs, s: float) -> Tensor:
        digit = pairs.index + 1
        a = log(s) / (pairs.width / 2) ** self.b
        slowing = -a * digit**self.b
        return pairs.theta * slowing.exp()
