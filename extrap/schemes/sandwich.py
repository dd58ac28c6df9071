"""Sandwich: the inner product of two sinusoids as a bias. arXiv 2212.10356.

b_ij = (<PE_i, PE_j> - width / 2) / c_h = sum_t (cos((i - j) w_t) - 1) / c_h
w_t = 10000**(-2t / width),   c_h = 8h / H, h = 1 .. H
Softmax does not see the constant - width / 2; a sink and 16 bits would see it missing. The bias
falls roughly like a logarithm, with ripples. We did not verify two points in the paper: c_h = 8h /
H, and that the bias comes after the 1 / sqrt(D).
"""

from typing import Literal

import torch
from torch import Tensor

from extrap.model.functional import frequencies
from extrap.model.scheme import Pairs, Scheme, Shape


class Sandwich(Scheme):
    """A bias by distance: the inner product of two sinusoids.

    Args:
        width: channels of the sinusoid, whatever the width of the model
        start: the first t; 0 is the sinusoid, the paper prints 1

    With start = 1 the sum runs to t = width / 2: it keeps its number of terms.

    Kind: relative
    Past L: defined; decays like a logarithm
    """

    def __init__(self, shape: Shape, width: Pairs = 128, start: Literal[0, 1] = 0):
        super().__init__(shape)
        self.width = width
        self.start = start

    def distance_bias(self, d: Tensor, layer: int) -> Tensor:
        first = 10000.0 ** (-2 * self.start / self.width)
        frequency = frequencies(self.width) * first
        total = torch.zeros_like(d)
        for w in frequency.tolist():
            half = d * w / 2
            total = total - 2 * half.sin().square()  # cos - 1
        H = self.shape.heads
        h = torch.arange(1, H + 1, dtype=d.dtype, device=d.device)
        compression = 8 * h / H
        return total / compression.view(-1, *[1] * d.dim())
