"""Dual chunk attention: pairs of one chunk, of neighbouring chunks and of distant ones, all at
trained distances. arXiv 2402.17463.

chunks of s = c - w tokens;   D_ij = P_i - (j mod s), with
    P_i = i mod s              in the chunk of the key: D = i - j
    P_i = min(i mod s + s, c)  in the next chunk: D = i - j for its first w tokens, then c - j mod s
    P_i = min(2 s - 1, c)      farther on
However long the text, distances reach c, and training met them all. This follows the authors' code;
the paper ends at c - 1.
"""

from extrap.extensions.distances import DistanceExtension, width_of
from extrap.model.distance_maps import DualChunk
from extrap.model.scheme import Scheme


class DualChunkAttention(DistanceExtension):
    """Dual chunk attention: pairs within and across chunks, all at trained distances.

    Args:
        farthest: c, at most L - 1; null stands for 3 L / 4, as in the authors' code
        window: w, at most c / 2, within which neighbouring chunks keep their distances; null stands
            for L / 16

    Changes pairs of different chunks inside L as well.
    """

    def __init__(self, farthest: int | None = None, window: int | None = None):
        self.farthest = farthest
        self.window = window

    def map(self, scheme: Scheme) -> DualChunk:
        L = scheme.shape.length
        c = width_of(self.farthest, 3 * L // 4, L - 1, "farthest", "L - 1 =")
        w = width_of(self.window, L // 16, c // 2, "window", "half of farthest,")
        return DualChunk(scheme, c, w)
