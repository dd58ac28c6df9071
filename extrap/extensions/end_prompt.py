"""EndPrompt: while tuning, the last few tokens of a window stand at the end of the longer text.
arXiv 2605.14589.

training: coordinates 0 .. n - m - 1, factor L - m .. factor L - 1;   m = terminal
reading: coordinates as they are, under the method of the tuning (interpolation in the paper)
The first part keeps its neighbours, as PoSE's two chunks do; distances between n and factor L - n
never come up. The paper appends a short prompt of its own as the second part; here it is the last
m tokens of the window, as the text stays whole.
"""

import torch
from torch import Tensor

from extrap.extensions.base import SchemeExtension
from extrap.extensions.pose import PoSE
from extrap.model.scheme import Scheme, Shape


class Terminal(Scheme):
    """Coordinates in training: the last `terminal` tokens at the end of `most`.

    Kind: modifier
    Used by: -
    Past L: defined; training met the distances of both parts
    Source: arXiv 2605.14589
    """

    def __init__(self, shape: Shape, most: int, terminal: int):
        super().__init__(shape)
        if not 1 <= terminal < shape.length:
            raise ValueError(
                f"terminal={terminal}: from 1 to {shape.length - 1}, below the training length"
            )
        self.most, self.terminal = most, terminal

    def positions(self, t: Tensor) -> Tensor:
        n = len(t)
        if not self.training or n <= self.terminal or n >= self.most:
            return t
        last = torch.arange(n, device=t.device) >= n - self.terminal
        return torch.where(last, t + self.most - n, t)


class EndPrompt(PoSE):
    """method: as in PoSE; terminal: m, tokens at the end (we could not read the paper's number).

    Raises ValueError as PoSE does, and NotApplicable unless 1 <= m < L. Source: arXiv 2605.14589
    """

    def __init__(self, method: SchemeExtension, terminal: int = 8):
        super().__init__(method)
        self.terminal = terminal

    def positions(self, shape: Shape, most: int) -> Scheme:
        return Terminal(shape, most, self.terminal)
