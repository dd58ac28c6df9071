"""Jet-Long: near keys at their own distance, far keys by groups that grow with the text. arXiv
2607.07740.

D_ij = n for n <= w, then floor(i / G) - floor(j / G),   n = i - j, G = ceil(T / L) in a text of T
tokens. Up to L nothing changes; past it every far distance lies within L, as in training. Far
distances begin at w / G and not at w: unlike Self-Extend, the method moves no group, so that far
keys come nearer than near ones. As the authors' code does,
https://github.com/jet-ai-projects/Jet-Long, modeling_qwen3_jetlong.py, with w = L / 16.
"""

from math import ceil

import torch
from torch import Tensor

from extrap.extensions.distances import DistanceExtension, width_of
from extrap.model.distance_maps import Near
from extrap.model.scheme import Scheme, Where, whole_steps


class JetLong(DistanceExtension):
    """Jet-Long: near keys at their own distance, far keys by groups that grow with the text.

    Args:
        width: w in tokens, below L; null stands for L / 16

    Adaptive: rows record G of each text.
    """

    factor = None

    def __init__(self, width: int | None = None):
        self.width = width

    def effective(self, n: int, length: int) -> float:
        return float(max(1, ceil(n / length)))

    def map(self, scheme: Scheme) -> Near:
        L = scheme.shape.length
        w = width_of(self.width, L // 16, L - 1, "width", "L - 1 =")
        return Bifocal(scheme, w)


class Bifocal(Near):
    """The map of distances of JetLong.

    Args:
        width: w
    """

    def __init__(self, part: Scheme, width: int):
        super().__init__(part, width, lambda q, k: (q, k))

    def group(self, at: Where) -> int:
        """Returns G of the whole text, tokens that this forward leaves out included."""
        left_out = 0 if at.left_out is None else int(at.left_out[-1])
        T = at.length + left_out
        return max(1, ceil(T / self.shape.length))

    def places(self, at: Where) -> list[Where]:
        G = self.group(at)
        if G == 1:
            return [at]
        q = whole_steps(at.q / G).double()
        k = whole_steps(at.k / G).double()
        return [at, at.moved(q, k, self)]

    def zone(self, at: Where) -> Tensor:
        if self.group(at) == 1:
            return torch.zeros(len(at.q), len(at.k), dtype=torch.long, device=at.q.device)
        return (at.distance > self.width).long()
