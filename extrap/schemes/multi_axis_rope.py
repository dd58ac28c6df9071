"""Multi-axis RoPE: a token has several coordinates, and each turns a share of the pairs. arXiv
2607.16072 (2D-RoPE for text), kexue.fm/archives/8397.

Coordinates (m_1, ..., m_a) turn a blocks of D/(2a) pairs, each a RoPE of its own size:
theta_p = base**(-2pa/D). The score depends on the differences m_1 - m'_1, ..., m_a - m'_a alone.

Text has one coordinate t. Its digits in a radix serve as axes, as if text were lines of `width`
tokens: two axes are (floor(t / width), t mod width), line and column. The first digit has no bound:
every position is defined.
"""

from typing import Annotated

import torch
from annotated_types import Ge
from torch import Tensor

from extrap.model.functional import frequencies
from extrap.model.rotary import Layout, Rotary
from extrap.model.scheme import Shape, Size


class MultiAxisRoPE(Rotary):
    """Rotary position embedding over several coordinates: each turns a share of the pairs.

    Args:
        axes: a, the number of coordinates; 1 is RoPE
        width: the radix; null stands for the a-th root of L

    Raises ValueError unless 2 a divides D.

    Kind: relative
    Used by: vision models (Qwen-VL, FLUX)
    Past L: defined; the first axis meets lines never trained
    Source: arXiv 2607.16072; https://kexue.fm/archives/8397
    """

    def __init__(
        self,
        shape: Shape,
        base: float = 10000.0,
        axes: Size = 2,
        width: Annotated[Size, Ge(2)] | None = None,
        layout: Layout = "interleaved",
    ):
        super().__init__(shape, base, layout)
        if shape.head_dim % (2 * axes):
            raise ValueError(
                f"axes={axes}: {shape.head_dim} channels of a head cannot be split into so many "
                "blocks of pairs"
            )
        self.axes = axes
        self.width = max(2, round(shape.length ** (1 / axes))) if width is None else width

    def spectrum(self, n: int) -> Tensor:
        """theta (D/2,), float64, the same D/(2a) frequencies for each axis."""
        return frequencies(self.shape.head_dim // self.axes, self.base).repeat(self.axes)

    def coordinates(self, t: Tensor) -> list[Tensor]:
        """Returns the digits of t (T,), highest first; a fraction of t stays in the lowest."""
        digits = []
        for _ in range(self.axes - 1):
            line = torch.floor(t / self.width + 1e-9)
            digits.insert(0, t - line * self.width)
            t = line
        return [t, *digits]

    def angle(self, t: Tensor, theta: Tensor) -> Tensor:
        axes = zip(self.coordinates(t), theta.chunk(self.axes), strict=True)
        angles = [m[:, None] * part for m, part in axes]
        return torch.cat(angles, -1)
