"""Randomised YaRN: tuning at L on positions drawn from the longer text, under YaRN's frequencies.
arXiv 2606.23687.

training: t_1 < .. < t_n, a sorted random subset of 0 .. factor L - 1, drawn anew for each forward
and shared by the texts of a batch
reading: 0, 1, 2, .. under YaRN
PoSE skips positions once in a text, this method at every token. The paper also raises the range of
positions during tuning (a curriculum); here the range is factor L from the first step on.
"""

import torch
from torch import Tensor

from extrap.extensions.by_parts import YaRN
from extrap.extensions.pose import PoSE
from extrap.model.scheme import Scheme, Shape


class Subset(Scheme):
    """Coordinates in training: a sorted random subset of those below `most`. Draws from torch's CPU
    generator.

    Kind: modifier
    Used by: -
    Past L: defined; training met distances up to `most`
    Source: arXiv 2606.23687
    """

    def __init__(self, shape: Shape, most: int):
        super().__init__(shape)
        self.most = most

    def positions(self, t: Tensor) -> Tensor:
        n = len(t)
        if not self.training or n >= self.most:
            return t
        return torch.randperm(self.most)[:n].sort().values.to(t)


class RandomisedYaRN(PoSE):
    """method: YaRN with its options. Raises ValueError for another method, and as PoSE does.

    Source: arXiv 2606.23687
    """

    def __init__(self, method: YaRN):
        super().__init__(method)
        if not isinstance(method, YaRN):
            raise ValueError(f"method={type(method).__name__}: give YaRN; for others take pose")

    def positions(self, shape: Shape, most: int) -> Scheme:
        return Subset(shape, most)
