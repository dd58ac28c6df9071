"""The distance maps of the field, D_ij in place of i - j, each a few lines over Remapped. n stands for i - j.

Widths and distances are in units of the coordinates the scheme is handed (tokens, unless something below moved them); near pairs,
n < width, always keep their distance.
"""

import torch
from torch import Tensor

from extrap.model.remapped import Remapped
from extrap.model.scheme import Scheme, Shape, Where, whole_steps


class Near(Remapped):
    """What these maps share: distances below `width` stay. Raises ValueError for a width below 1."""

    def __init__(self, shape: Shape, part: Scheme, width: int):
        super().__init__(shape, part)
        if width < 1:
            raise ValueError(f"width={width}: a token is near itself, so at least 1")
        self.width = width

    def near(self, at: Where) -> Tensor:
        return at.distance < self.width


class Constant(Near):
    """D = min(n, w). https://kexue.fm/archives/9708 (ReRoPE)."""

    def far(self, at: Where) -> Where:
        return at.moved(torch.full_like(at.q, self.width), torch.zeros_like(at.k), "constant")


class Leaky(Near):
    """D = n, from w on w + (n - w) / k. https://kexue.fm/archives/9708. Raises ValueError for k <= 0; k = 1 changes nothing."""

    def __init__(self, shape: Shape, part: Scheme, width: int, k: float):
        super().__init__(shape, part, width)
        if k <= 0:
            raise ValueError(f"k={k}: distances past the width are divided by it, so it must be positive")
        self.k = k

    def far(self, at: Where) -> Where:
        return at.moved(self.width + (at.q - self.width) / self.k, at.k / self.k, "leaky")


class Grouped(Near):
    """D = n, from W on floor(i / G) - floor(j / G) + W - W / G. arXiv 2401.01325 (Self-Extend).

    Raises ValueError unless G divides W: otherwise the authors' formula and code differ, and far pairs can land below near ones.
    """

    def __init__(self, shape: Shape, part: Scheme, width: int, group: int):
        super().__init__(shape, part, width)
        if group < 1 or width % group:
            raise ValueError(f"group={group}: must divide the window of {width} tokens")
        self.group = group

    def far(self, at: Where) -> Where:
        q, k = (whole_steps(t / self.group).double() for t in (at.q, at.k))
        return at.moved(q + self.width - self.width // self.group, k, "grouped")


class InCache(Remapped):
    """D counts in a cache of the first `sinks` and the last `recent` tokens: n among the recent, C - 1 - j to a sink once it is full.

    C = sinks + recent. arXiv 2309.17453 (StreamingLLM). What is in neither part is to be hidden by a mask.
    """

    def __init__(self, shape: Shape, part: Scheme, sinks: int, recent: int):
        super().__init__(shape, part)
        self.sinks, self.recent = sinks, recent

    def near(self, at: Where) -> Tensor:
        return at.back < self.recent

    def far(self, at: Where) -> Where:
        full = at.k[: self.sinks + self.recent].max()  # the coordinate of the last place in a full cache
        return at.moved(at.q.clamp(max=full), at.k, "in-cache")
