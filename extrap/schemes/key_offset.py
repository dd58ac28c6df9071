"""Partial key offset: half of the channels of a key come from the token before, so that one layer
can copy what followed. https://github.com/KellerJordan/modded-nanogpt, train_gpt.py.

k_t[c] <- k_(t-1)[c] for the last channels of a head, t >= 1; the first token keeps its own. A query
then finds a key by the token in front of it and reads the value of the token itself. The authors
shift the channels that do not turn, in some of the layers, with a RoPE of the first half.
"""

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Where
from extrap.utils.bounds import Share


class KeyOffset(Scheme):
    """A partial key offset: part of the channels of a key come from the token before.

    Args:
        share: of the channels of a head, the last ones, that come from the token before

    Put it in front of a scheme that turns them.

    Kind: modifier
    Past L: defined
    """

    def __init__(self, shape: Shape, share: Share = 0.5):
        super().__init__(shape)
        D = shape.head_dim
        self.own = D - round(share * D)

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        first = k[:, :, :1]
        before = torch.cat([first, k[:, :, :-1]], 2)
        kept = k[..., : self.own]
        moved = before[..., self.own :]
        return q, torch.cat([kept, moved], -1)
