"""Clipped RoPE: pairs that made less than a turn in training stop turning. arXiv 2602.05258 (there
CoPE, which here is contextual position encoding).

theta'_p = theta_p m_p;   the last n pairs of a grid are clipped, c = 0 .. n-1 counted among them
smooth  m = (1 + cos(pi c / (n - 1))) / 2, from 1 to 0: a filter with a soft edge does not ring
hard    m = 0: the control, p-RoPE in a model trained with RoPE
The authors clip n = 20 of the 64 pairs of Llama 3. At its base of 5e5 and L = 8192, 29 pairs make
less than one turn in training: their default is .69 of these pairs, and null for n is a weaker
ablation of theirs. The paper writes m as a function of the frequency, the authors' code of the
index; here it follows the code.
"""

from math import pi
from typing import Literal

import torch
from torch import Tensor

from extrap.extensions.frequencies import Frequencies
from extrap.model.spectrum import Pairs
from extrap.utils.bounds import Count


class ClippedRoPE(Frequencies):
    """Clipped RoPE: the slowest pairs stop turning, behind a smooth or a hard edge.

    Args:
        edge: smooth or hard
        clipped: n, in each grid of frequencies; null: all pairs below one turn in L tokens (the
            authors clip .69 of these pairs)

    Changes the model inside L, so it needs a short fine-tuning; it has no factor. Refuses a
    scheme if all its pairs make a turn.
    """

    def __init__(self, edge: Literal["smooth", "hard"] = "smooth", clipped: Count | None = None):
        super().__init__(1.0)
        self.edge = edge
        self.clipped = clipped

    def theta(self, pairs: Pairs, s: float) -> Tensor:
        grid = pairs.width // 2
        if self.clipped is None:
            slow = int((pairs.turns < 1).sum())
            n = slow * grid // len(pairs.theta)
        else:
            n = self.clipped
        n = min(n, grid)
        c = pairs.index - (grid - n)
        m = (1 + torch.cos(pi * c / max(n - 1, 1))) / 2
        if self.edge == "hard":
            m = torch.zeros_like(m)
        m = torch.where(c < 0, torch.ones_like(m), m)
        return pairs.theta * m
