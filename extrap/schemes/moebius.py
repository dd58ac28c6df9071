"""Moebius RoPE: a ladder of frequencies under which a pair comes back with its sign changed after
one training length. arXiv 2607.21405.

odd        theta_i = pi (2 i + 1) / L,   i = 0 .. P - 1: every pair turns half a turn more than a
           whole number of turns within L, so R_L = -I and R_2L = I
even       theta_i = 2 pi (i + 1) / L: whole turns, R_L = I, the periodic control
geometric  from pi / L to pi (2 P - 1) / L by equal ratios: the band of `odd`, and no pair but the
           ends closes, the aperiodic control

The paper gives a quarter of the heads the odd ladder and the others RoPE. It reports that accuracy
varies less between seeds, that the aperiodic control does nothing, and the periodic one a part. Its
code is not published; the formulas of the controls are ours. Pairs are counted from the fastest
here, so that extensions slow the last ones most.
"""

from math import pi
from typing import Literal

import torch
from torch import Tensor

from extrap.model.rotary import Layout, Rotary
from extrap.model.scheme import Shape


class Ladder(Rotary):
    """Rotary position embedding with a ladder of frequencies set by the training length.

    Args:
        steps: odd (Moebius), even or geometric, as above; L is the training length

    Raises ValueError for an odd head width and channels that the layout does not pair. The ramp of
    YaRN over the index of a pair takes the grid of RoPE; yarn-turns goes by turns.

    Kind: relative
    Past L: defined; a ladder that closes repeats itself past L
    """

    def __init__(
        self,
        shape: Shape,
        steps: Literal["odd", "even", "geometric"] = "odd",
        layout: Layout = "interleaved",
    ):
        super().__init__(shape, layout=layout)
        self.steps = steps

    def spectrum(self, n: int) -> Tensor:
        """theta (D/2,), float64, the fastest pair first."""
        count = self.shape.head_dim // 2
        i = torch.arange(count, dtype=torch.float64).flip(0)
        if self.steps == "geometric":
            steps = (2.0 * count - 1) ** (i / max(1, count - 1))
        else:
            steps = 2 * i + (1 if self.steps == "odd" else 2)
        return pi * steps / self.shape.length
