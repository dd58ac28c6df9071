"""Digits of the position, added to the token embedding: the step between the integer (raw_index)
and the sinusoid. https://huggingface.co/blog/designing-positional-encoding; kexue.fm/archives/9675.

x_i[c] <- x_i[c] + d_c(i) / (b - 1);   d_c(i) = floor(i / b**c) mod b, lowest digit first

Channel c is a square wave of period b**(c + 1), where a sinusoid has a smooth one. Bounded, unlike
the integer; but neighbours i and i + 1 may differ in all digits, and past L a digit that training
left at 0 rises. The lowest digit is not rounded, so that coordinates between whole ones
(interpolation) differ.
"""

from typing import Annotated

import torch
from annotated_types import Ge
from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Size, Where, whole_steps


class Digits(Scheme):
    """The digits of the position, added to the token embedding.

    Args:
        base: b, 2 for binary, 10 for decimal

    Every channel has a digit; all but log_b(T) digits are 0.

    Kind: absolute
    Past L: defined; a digit that training left at 0 rises
    """

    def __init__(self, shape: Shape, base: Annotated[Size, Ge(2)] = 2):
        super().__init__(shape)
        self.base = base

    def embed(self, x: Tensor, at: Where) -> Tensor:
        if at.layer:
            return x
        added = self.digits(at.q) / (self.base - 1)
        return x + added.to(x.dtype)

    def digits(self, t: Tensor) -> Tensor:
        """Returns the digits (T, C), float64, of coordinates t (T,); t >= 0."""
        c = torch.arange(self.shape.dim, dtype=torch.float64)
        worth = (float(self.base) ** c).to(t.device)
        whole = whole_steps(t).double()
        digits = (whole[:, None] / worth).floor() % self.base
        digits[:, 0] += t - whole
        return digits
