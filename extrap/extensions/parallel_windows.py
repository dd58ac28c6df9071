"""Parallel context windows: windows at the same positions do not see each other; the end of the
text sees all of them. arXiv 2212.10947.

After BOS, the method cuts text into windows of c tokens, from the back; the last L - c - 1 tokens
see all of it:

    coordinate   BOS 0;  in every window 1 .. c (the first one, shorter, ends at c);  in the end of
                 the text c + 1 .. L - 1
    visible      BOS;  earlier tokens of the own window;  to the end of the text everything earlier

No coordinate reaches L, so that absolute schemes and tables work as well. Up to L tokens nothing
changes.
"""

import torch
from torch import Tensor

from extrap.extensions.base import SchemeExtension, with_parts
from extrap.model.scheme import Scheme, Shape, Where


class Windows(Scheme):
    """Coordinates and mask of the method.

    Args:
        window: c

    Kind: modifier
    Past L: defined; order of the windows is lost
    """

    def __init__(self, shape: Shape, window: int):
        super().__init__(shape)
        self.window = window

    def place(self, i: Tensor, n: int) -> tuple[Tensor, Tensor]:
        """Returns the coordinate of tokens i of n, and the windows from each to the end."""
        t = i - n + self.shape.length  # the end of the text and the last window lie there
        c = self.window
        after = (c - t.clamp(max=c)) // c
        windows = torch.where(i > 0, after + (t <= c), 0)
        shift = (windows - 1).clamp(min=0) * c
        coordinate = torch.where(i > 0, t + shift, 0)
        return coordinate, windows

    def positions(self, t: Tensor) -> Tensor:
        n = len(t)
        if n <= self.shape.length:
            return t
        coordinates, _ = self.place(torch.arange(n, device=t.device), n)
        return t[coordinates]

    def sees(self, at: Where) -> Tensor | None:
        if at.length <= self.shape.length:
            return None
        _, of_q = self.place(at.i, at.length)
        _, of_k = self.place(at.j, at.length)
        in_end = of_q[:, None] == 0
        in_same = of_q[:, None] == of_k
        bos = at.j == 0
        return in_end | in_same | bos


class ParallelWindows(SchemeExtension):
    """Parallel context windows: windows at the same positions; the end of the text sees all.

    Args:
        window: c in tokens; null stands for L / 2

    Refuses schemes that own attention, and a window outside 1 .. L - 2.

    Tokens change windows as the text grows.
    """

    layers = "all"

    def __init__(self, window: int | None = None):
        self.window = window

    def extend(self, scheme: Scheme) -> Scheme:
        L = scheme.shape.length
        window = L // 2 if self.window is None else self.window
        if not 1 <= window <= L - 2:
            raise ValueError(
                f"window={window}: must lie between 1 and {L - 2}, so that BOS and the end of the "
                "text fit beside it"
            )
        return with_parts(scheme, Windows(scheme.shape, window))
