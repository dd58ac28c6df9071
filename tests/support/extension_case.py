"""Rotary schemes of a stated size, extended, and what is read off them."""

import torch
from torch import Tensor

from extrap.extensions.base import SchemeExtension
from extrap.model.scheme import Scheme, Shape
from extrap.model.spectrum import frequencies_used
from extrap.schemes.rope import RoPE


def rope(
    d: int = 8, length: int = 64, base: float = 10000.0, heads: int = 1, layout="interleaved"
) -> RoPE:
    return RoPE(Shape(dim=d * heads, heads=heads, length=length), base, layout)


def theta(extension: SchemeExtension, scheme: Scheme, n: int | None = None) -> Tensor:
    """Frequencies in force in a forward of n tokens, at four times the training length
    if not said.
    """
    return frequencies_used(extension.extend(scheme), 4 * scheme.shape.length if n is None else n)


def row(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)
