"""STRING: frequent distances of training replace rare ones. arXiv 2410.18745.

D_ij = n for n < S, then n - S + W;   n = i - j, S the shift, W below S

The method leaves out the S - W farthest distances of training, and the others cover the text: the
farthest of L tokens lies at L - 1 - S + W, and L + S - W tokens stay within the training range. S
and W, and their sizes (.33 L, 128 of 131072 tokens), are `shifted_offset` and `small_local_value`
of the authors' page, github.com/HKUNLP/STRING, as of 2026-11-22: there, too, S counts the discarded
positions, and W keeps the nearest shifted ones apart from the diagonal. We did not have the paper's
equations.
"""

from extrap.extensions.distances import DistanceExtension, width_of
from extrap.model.distance_maps import Near, shifted
from extrap.model.scheme import Scheme


class STRING(DistanceExtension):
    """STRING: far pairs take frequent distances of training in place of rare ones.

    Args:
        shift: S in tokens, at most L; null stands for L / 3
        local: W, at most S; null stands for L / 16 (the authors: 128 of 131072)

    The method is for texts within L, where it changes the model.
    """

    def __init__(self, shift: int | None = None, local: int | None = None):
        self.shift = shift
        self.local = local

    def map(self, scheme: Scheme) -> Near:
        L = scheme.shape.length
        S = width_of(self.shift, L // 3, L, "shift")
        default = min(L // 16, S)
        W = width_of(self.local, default, S, "local", "the shift,")
        return shifted(scheme, S, W)
