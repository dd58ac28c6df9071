"""The distance maps of the field, D_ij in place of i - j, each a few lines over Remapped. n stands
for i - j.

Widths and distances count in coordinates of the scheme: in tokens, unless a part before it moved
them. Near pairs, n < width, keep their distance.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from extrap.model.remapped import Remapped, Zoned
from extrap.model.scheme import Scheme, Shape, Where, whole_steps


class Near(Remapped):
    """A map that keeps distances below `width`, at least 1."""

    def __init__(self, shape: Shape, part: Scheme, width: int):
        super().__init__(shape, part)
        _no_cache(part)
        self.width = width

    def near(self, at: Where) -> Tensor:
        return at.distance < self.width


class Constant(Near):
    """D = min(n, w). https://kexue.fm/archives/9708 (ReRoPE)."""

    def far(self, at: Where) -> Where:
        return at.moved(torch.full_like(at.q, self.width), torch.zeros_like(at.k), self)


class Leaky(Near):
    """D = n, from w on w + (n - w) / k. https://kexue.fm/archives/9708. k = 1 changes nothing."""

    def __init__(self, shape: Shape, part: Scheme, width: int, k: float):
        super().__init__(shape, part, width)
        self.k = k

    def far(self, at: Where) -> Where:
        return at.moved(self.width + (at.q - self.width) / self.k, at.k / self.k, self)


class Grouped(Near):
    """D = n, from W on floor(i / G) - floor(j / G) + W - W / G. arXiv 2401.01325 (Self-Extend).

    Raises ValueError unless G divides W: otherwise the authors' formula and code differ, and a far
    pair can come nearer than a near one.
    """

    def __init__(self, shape: Shape, part: Scheme, width: int, group: int):
        super().__init__(shape, part, width)
        if group < 1 or width % group:
            raise ValueError(f"group={group}: must divide the window of {width} tokens")
        self.group = group

    def far(self, at: Where) -> Where:
        q, k = (whole_steps(t / self.group).double() for t in (at.q, at.k))
        return at.moved(q + self.width - self.width // self.group, k, self)


class Shifted(Near):
    """D = n, from S on n - S + W. arXiv 2410.18745 (STRING). W = S changes nothing."""

    def __init__(self, shape: Shape, part: Scheme, shift: int, local: int):
        super().__init__(shape, part, shift)
        self.local = local

    def far(self, at: Where) -> Where:
        return at.moved(at.q - self.width + self.local, at.k, self)


class Divided(Zoned):
    """D = n / s, s = by(T) in a forward of T tokens: interpolation (arXiv 2306.15595) for some
    layers, because all layers share the coordinates.
    """

    def __init__(self, shape: Shape, part: Scheme, by: Callable[[int], float]):
        super().__init__(shape, part)
        self.by = by

    def stretch(self, n: int) -> float:
        return 1 / self.by(n)

    def places(self, at: Where) -> list[Where]:
        s = self.by(at.length)
        return [at.moved(at.q / s, at.k / s, self)]

    def zone(self, at: Where) -> Tensor:
        return torch.zeros(len(at.q), len(at.k), dtype=torch.long, device=at.q.device)


class InCache(Remapped):
    """D counts in a cache of the first `sinks` and the last `recent` tokens: n among the recent, C
    - 1 - j to a sink once it is full.

    C = sinks + recent. arXiv 2309.17453 (StreamingLLM). A mask has to hide the tokens in neither
    part.
    """

    def __init__(self, shape: Shape, part: Scheme, sinks: int, recent: int):
        super().__init__(shape, part)
        self.sinks, self.recent = sinks, recent

    def near(self, at: Where) -> Tensor:
        return at.back < self.recent

    def far(self, at: Where) -> Where:
        last = at.k[: self.sinks + self.recent].max()  # the last place in a full cache
        return at.moved(at.q.clamp(max=last), at.k, self)


def _no_cache(part: Scheme) -> None:
    """Raises ValueError for a map over places in a cache: the cache needs coordinates that queries
    and keys share, and the map gives them different ones.
    """
    if any(isinstance(inner, InCache) for inner in part.modules()):
        raise ValueError(
            "places in a cache have no other distances to be given; StreamingLLM comes last"
        )


class DualChunk(Zoned):
    """D = P_i - j mod s in chunks of s = c - w: i mod s in the chunk of the key, min(i mod s + s,
    c) in the next, min(2 s - 1, c) farther on. arXiv 2402.17463 (dual chunk attention), as in its
    code. 1 <= w <= s: keys within w lie in this chunk or the one before.
    """

    def __init__(self, shape: Shape, part: Scheme, farthest: int, window: int):
        super().__init__(shape, part)
        _no_cache(part)
        self.farthest, self.chunk = farthest, farthest - window
        self.last = min(2 * self.chunk - 1, farthest)

    def places(self, at: Where) -> list[Where]:
        """Pairs of one chunk keep their own coordinates, which have the same distance."""
        q, k = (t - self._chunk(t) * self.chunk for t in (at.q, at.k))
        return [
            at,
            at.moved((q + self.chunk).clamp(max=self.farthest), k, (self, "next")),
            at.moved(torch.full_like(q, self.last), k, (self, "farther")),
        ]

    def zone(self, at: Where) -> Tensor:
        return (self._chunk(at.q)[:, None] - self._chunk(at.k)).clamp(0, 2).long()

    def _chunk(self, t: Tensor) -> Tensor:
        return whole_steps(t / self.chunk).double()
