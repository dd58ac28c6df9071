"""Randomised positions: training samples few of many positions, so that none is new at test. Parts
to stack under any scheme.

A training forward of T tokens draws a sorted random subset of T of the positions 0 .. L_max - 1.
arXiv 2305.16843. Equal mean stretches 0 .. 1 by a random factor of mean T instead, and uses 0, 1,
2, .. at test. https://kexue.fm/archives/9444.
"""

from typing import Literal

import torch
from torch import Tensor

from extrap.model.scheme import OutOfRange, Scheme, Shape, Size


class RandomisedPositions(Scheme):
    """Randomised positions: a sorted random subset of a range, drawn for every training forward.

    Args:
        maximum: L_max, at least the longest test length; null stands for 32 L; tables in
            the same stack need as many rows
        test: positions of a forward that does not train: even, stride or sampled
        longest: of stride, in tokens; null stands for L_max / 2

    even      round(linspace(0, L_max - 1, T)); earlier tokens move as the text grows
    stride    i * floor(L_max / longest), the same in every text
    sampled   a random subset as in training, one for each T, so that a measurement repeats: the
              authors sample at test, too; even spacing is Su's

    Except under stride it uses the number of given coordinates, not their values. Draws from
    torch's CPU generator. Past L_max (stride: longest) tokens the model raises
    OutOfRange. Raises ValueError for a maximum below L and a longest outside L .. L_max.

    Kind: modifier
    Past L: defined up to L_max, all positions trained; then raises
    """

    def __init__(
        self,
        shape: Shape,
        maximum: Size | None = None,
        test: Literal["even", "stride", "sampled"] = "even",
        longest: Size | None = None,
    ):
        super().__init__(shape)
        self.maximum = 32 * shape.length if maximum is None else maximum
        if self.maximum < shape.length:
            raise ValueError(f"maximum={maximum}: must hold the training length {shape.length}")
        self.longest = max(self.maximum // 2, shape.length) if longest is None else longest
        if not shape.length <= self.longest <= self.maximum:
            raise ValueError(
                f"longest={longest}: must lie between the training length {shape.length} and "
                f"maximum={self.maximum}"
            )
        self.test = test

    def positions(self, t: Tensor) -> Tensor:
        n = len(t)
        stride = self.test == "stride" and not self.training
        if n > (most := self.longest if stride else self.maximum):
            raise OutOfRange(
                f"{n} tokens lie past the {most} that randomised positions were laid out for; "
                "raise maximum or longest"
            )
        if stride:
            return t * (self.maximum // self.longest)
        if self.test == "even" and not self.training:
            return torch.linspace(0, self.maximum - 1, n, dtype=torch.float64).round()
        generator = None if self.training else torch.Generator().manual_seed(n)
        drawn = torch.randperm(self.maximum, generator=generator)[:n]
        return drawn.sort().values.double()


class EqualMeanPositions(Scheme):
    """Evenly spaced positions stretched by a random factor in training.

    Training: linspace(0, 1, T) * u, u ~ Exponential of mean T; test: given coordinates. Goes well
    with log-n. Coordinates are fractional and have no upper end, so that a stack cannot hold
    tables. Draws from torch's CPU generator.

    Kind: modifier
    Past L: defined; longer texts were met in training, as stretched ones
    Source: kexue.fm/archives/9444
    """

    def positions(self, t: Tensor) -> Tensor:
        if not self.training:
            return t
        u = torch.empty(1, dtype=torch.float64).exponential_(1 / max(len(t), 1))
        return torch.linspace(0, 1, len(t), dtype=torch.float64) * u
