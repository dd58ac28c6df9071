"""Clipped RoPE: pairs that never came round in training stop turning. arXiv 2602.05258 (there CoPE,
a name that here belongs to contextual position encoding).

theta'_p = theta_p m_p;   the last n pairs of a grid are clipped, c = 0 .. n-1 counted among them
smooth  m = (1 + cos(pi c / (n - 1))) / 2, from 1 to 0: a filter with a soft edge does not ring
hard    m = 0: the control, which is p-RoPE of a model that was trained otherwise
The authors clip n = 20 of 64 pairs of Llama 3 and say that the periods of these exceed the training
length; null for n stands for the pairs with less than one turn in it.
"""

from math import pi
from typing import Literal

import torch
from torch import Tensor

from extrap.extensions.frequencies import Frequencies
from extrap.model.spectrum import Pairs


class ClippedRoPE(Frequencies):
    """edge: smooth or hard; clipped: n, in each grid of frequencies.

    Changes the model inside L, hence it wants a short fine-tuning; it has no factor. Raises
    ValueError for fewer than 1 pair; refuses a scheme all of whose pairs make a turn. Source: arXiv
    2602.05258
    """

    def __init__(self, edge: Literal["smooth", "hard"] = "smooth", clipped: int | None = None):
        super().__init__(1.0)
        if clipped is not None and clipped < 1:
            raise ValueError(f"clipped={clipped}: at least 1 pair, or null for those below a turn")
        self.edge, self.clipped = edge, clipped

    def theta(self, pairs: Pairs, s: float) -> Tensor:
        grid = pairs.width // 2
        n = int((pairs.turns < 1).sum()) * grid // len(pairs.theta)
        n = min(n if self.clipped is None else self.clipped, grid)
        c = pairs.index - (grid - n)
        soft = (1 + torch.cos(pi * c / max(n - 1, 1))) / 2
        mask = soft if self.edge == "smooth" else torch.zeros_like(soft)
        return pairs.theta * torch.where(c < 0, torch.ones_like(soft), mask)
