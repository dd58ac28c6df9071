"""STRING: frequent distances of training replace rare ones. arXiv 2410.18745.

D_ij = n for n < S, then n - S + W;   n = i - j, S the shift, W below S
logits <q, k> times m**2, m the attention factor

The method leaves out the S - W farthest distances of training, and the others cover the text: the
farthest of L tokens lies at L - 1 - S + W, and L + S - W tokens stay within the training range. S
and W, and their sizes (.33 L, 128 of 131072 tokens), are `shifted_offset` and `small_local_value`
of the authors' page, github.com/HKUNLP/STRING, as of 2026-11-22: there, too, S counts the discarded
positions, and W keeps the nearest shifted ones apart from the diagonal. Their code multiplies
queries and keys by m = .1 ln 2 + 1 each, as YaRN does. We did not have the paper's equations.
"""

from math import log

from extrap.extensions.base import with_parts
from extrap.extensions.distances import DistanceExtension, width_of
from extrap.extensions.frequencies import Heat
from extrap.model.distance_maps import Near, shifted
from extrap.model.scheme import Scheme
from extrap.utils.bounds import Positive

AUTHORS = 0.1 * log(2) + 1
"""The attention factor of their code."""


class STRING(DistanceExtension):
    """STRING: far pairs take frequent distances of training in place of rare ones.

    Args:
        shift: S in tokens, at most L; null stands for L / 3
        local: W, below S; null stands for L / 16 (the authors: 128 of 131072)
        attention_factor: m; null stands for .1 ln 2 + 1, 1 leaves it out

    The method is for texts within L, where it changes the model.
    """

    def __init__(
        self,
        shift: int | None = None,
        local: int | None = None,
        attention_factor: Positive | None = None,
    ):
        self.shift = shift
        self.local = local
        self.attention_factor = AUTHORS if attention_factor is None else attention_factor

    def extend(self, scheme: Scheme) -> Scheme:
        mapped = super().extend(scheme)
        if self.attention_factor == 1:
            return mapped
        heat = Heat(scheme.shape, self.heat)
        return with_parts(mapped, heat)

    def heat(self, n: int) -> float:
        """Returns the factor of logits in a text of n tokens."""
        return self.attention_factor**2

    def map(self, scheme: Scheme) -> Near:
        L = scheme.shape.length
        S = width_of(self.shift, L // 3, L, "shift")
        default = min(L // 16, S - 1)
        W = width_of(self.local, default, S - 1, "local", "the shift - 1 =")
        return shifted(scheme, S, W)
