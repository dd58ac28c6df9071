"""Self-Extend: neighbours at their own distance, far keys by groups. arXiv 2401.01325.

D_ij = n for n < W, then floor(i / G) - floor(j / G) + W - W / G;   n = i - j
G divides W: the paper floors W / G and its code does not. With a divisor they agree, and no far key
comes nearer than a near one.
"""

from extrap.extensions.distances import DistanceExtension, width_of
from extrap.model.distance_maps import Near, grouped
from extrap.model.scheme import Scheme
from extrap.utils.bounds import Count, Factor


class SelfExtend(DistanceExtension):
    """Self-Extend: neighbours at their own distance, far keys by groups of G tokens.

    Args:
        window: W in tokens, at most L; null stands for L / 2
        group: G, a divisor of W

    group null: the smallest divisor of W that keeps every distance among factor L tokens below L,
    as in training. With a group, the factor plays no part, and rows record the factor up to which
    that group keeps distances below L. Refuses a group that
    does not divide W, and a W without a large enough divisor.
    """

    factor: float  # never null here

    def __init__(self, factor: Factor = 8.0, window: int | None = None, group: Count | None = None):
        self.factor = factor
        self.window = window
        self.group = group

    def effective(self, n: int, length: int) -> float:
        if self.group is None:
            return self.factor
        W = width_of(self.window, length // 2, length, "window")
        return (length - W + W // self.group) * self.group / length

    def map(self, scheme: Scheme) -> Near:
        L = scheme.shape.length
        W = width_of(self.window, L // 2, L, "window")
        if self.group is not None:
            return grouped(scheme, W, self.group)
        farthest = int(self.factor * L) - 1
        for G in range(1, W + 1):
            if W % G == 0 and farthest // G + W - W // G < L:
                return grouped(scheme, W, G)
        raise ValueError(
            f"window={W}: no divisor of it groups {farthest + 1} tokens within the training "
            f"length {L}; give another window"
        )
