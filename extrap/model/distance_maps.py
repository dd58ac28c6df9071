"""Distances other than i - j, entry by entry: a scheme read at several places at once; and the maps
of the field, D_ij in place of n = i - j.

Each pair of query and key belongs to a zone, and each zone has coordinates of its own. Score,
biases and mix of the scheme inside come from the place of the pair's zone. A map of distances is
then a partition and a few pairs of coordinate vectors, and serves rotations, biases and stacks of
both. Widths and distances count in coordinates of the scheme: in tokens, unless a part before it
moved them.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Where, whole_steps
from extrap.model.wrapper import Rescored


class Zoned(Rescored):
    """A map of distances.

    Args:
        part: the scheme inside

    A subclass gives the coordinates of its zones and the zone of each pair.

    `rotate` rotates queries and keys once for each zone and sets the results side by side, zone 0
    first. Kernels then join scores by blocks of query rows, in memory linear in the length. Layers
    whose attention one part owns stay as they are. Raises ValueError if that is every layer.
    """

    taken = frozenset({"distance_bias"})

    def __init__(self, part: Scheme):
        super().__init__(part.shape)
        layers = range(part.shape.layers)
        if all(part.uses("attend", layer=layer) for layer in layers):
            raise ValueError(
                f"{type(part).__name__} owns attention altogether and has no score per pair to "
                "take at other distances"
            )
        self.part = part

    @abstractmethod
    def places(self, at: Where) -> list[Where]:
        """Returns the same tokens at the coordinates of each zone (at.moved), (Tq,) and (Tk,); near
        tokens are in the first.
        """

    @abstractmethod
    def zone(self, at: Where) -> Tensor:
        """Returns the index in `places` of the zone of each pair: (Tq, Tk) int64."""

    def stretch(self, n: int) -> float | None:
        return None

    def own(self, layer: int | None) -> set[str]:
        if self.part.uses("distance_bias", layer=layer):
            return {"rotate", "score", "bias"}
        return {"rotate", "score"}

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        places = self.places(at)
        if at.near:
            places = places[:1]
        of_q = []
        of_k = []
        for place in places:
            turned_q, turned_k = self.part.rotate(q, k, place)
            of_q.append(turned_q)
            of_k.append(turned_k)
        return torch.cat(of_q, -1), torch.cat(of_k, -1)

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        s = self._joined(self.part.score, q, k, at)
        assert s is not None
        return s

    def distance_bias(self, d: Tensor, layer: int) -> None:
        """None: here a bias of the distance depends on the pair and is part of `bias`."""

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor | None:
        def biases(q: Tensor, k: Tensor, at: Where) -> Tensor | None:
            of_distance = self.part.distance_bias(at.distance, at.layer)
            of_content = self.part.bias(q, k, at)
            if of_distance is None:
                return of_content
            if of_content is None:
                return of_distance
            return of_distance + of_content

        return self._joined(biases, q, k, at)

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        if not self.part.uses("mix", layer=at.layer):
            return self.part.mix(a, v, at)
        mixed = []
        for _, place, inside in self._zones(at):
            mixed.append(self.part.mix(a * inside, v, place))
        total = torch.stack(mixed).sum(0)
        extra = len(mixed) - 1
        if extra == 0:
            return total
        nothing = torch.zeros_like(a)
        constant_part = self.part.mix(nothing, v, at)  # each zone has added it
        return total - extra * constant_part

    def _zones(self, at: Where) -> Iterator[tuple[int, Where, Tensor]]:
        """Yields index, place and pairs (Tq, Tk) of each zone that has pairs."""
        zone = self.zone(at)
        for n, place in enumerate(self.places(at)):
            inside = zone == n
            if inside.any():
                yield n, place, inside

    def _joined(
        self, compute: Callable[..., Tensor | None], q: Tensor, k: Tensor, at: Where
    ) -> Tensor | None:
        """Returns compute(q, k, at), each entry at the place of its pair; None if it gives None."""
        places = len(self.places(at))
        of_q = q.chunk(places, -1)
        of_k = k.chunk(places, -1)
        joined: Tensor | None = None
        for n, place, inside in self._zones(at):
            entries = compute(of_q[n], of_k[n], place)
            if entries is None:
                return None
            if joined is None:
                joined = entries
            else:
                joined = torch.where(inside, entries, joined)
        return joined


class Near(Zoned):
    """A map of two zones: pairs nearer than `width`, at least 1, keep their coordinates.

    Args:
        far: coordinates (q, k) -> the coordinates of all other pairs

    Raises ValueError over places in a cache: the cache needs coordinates that queries and keys
    share, and this gives them different ones.
    """

    def __init__(
        self, part: Scheme, width: int, far: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
    ):
        super().__init__(part)
        _no_cache(part)
        self.width = width
        self.far = far

    def places(self, at: Where) -> list[Where]:
        q, k = self.far(at.q, at.k)
        return [at, at.moved(q, k, self)]

    def zone(self, at: Where) -> Tensor:
        return (at.distance >= self.width).long()


def constant(part: Scheme, width: int) -> Near:
    """D = min(n, w). https://kexue.fm/archives/9708 (ReRoPE)."""

    def far(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        return torch.full_like(q, width), torch.zeros_like(k)

    return Near(part, width, far)


def leaky(part: Scheme, width: int, k: float) -> Near:
    """D = n, from w on w + (n - w) / k. https://kexue.fm/archives/9708. k = 1 changes nothing."""

    def far(of_q: Tensor, of_k: Tensor) -> tuple[Tensor, Tensor]:
        past_width = (of_q - width) / k
        return width + past_width, of_k / k

    return Near(part, width, far)


def grouped(part: Scheme, width: int, group: int) -> Near:
    """D = n, from W on floor(i / G) - floor(j / G) + W - W / G. arXiv 2401.01325 (Self-Extend).

    Raises ValueError unless G divides W: otherwise the authors' formula and code differ, and a far
    pair can come nearer than a near one.
    """
    if group < 1 or width % group:
        raise ValueError(f"group={group}: must divide the window of {width} tokens")

    def far(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        group_of_q = whole_steps(q / group).double()
        group_of_k = whole_steps(k / group).double()
        moved = group_of_q + width - width // group
        return moved, group_of_k

    return Near(part, width, far)


def shifted(part: Scheme, shift: int, local: int) -> Near:
    """D = n, from S on n - S + W. arXiv 2410.18745 (STRING). W = S changes nothing."""
    return Near(part, shift, lambda q, k: (q - shift + local, k))


class Divided(Zoned):
    """D = n / s, s = by(T) in a forward of T tokens: interpolation (arXiv 2306.15595) for some
    layers, because all layers share the coordinates.
    """

    def __init__(self, part: Scheme, by: Callable[[int], float]):
        super().__init__(part)
        self.by = by

    def stretch(self, n: int) -> float:
        return 1 / self.by(n)

    def places(self, at: Where) -> list[Where]:
        s = self.by(at.length)
        q = at.q / s
        k = at.k / s
        return [at.moved(q, k, self)]

    def zone(self, at: Where) -> Tensor:
        return torch.zeros(len(at.q), len(at.k), dtype=torch.long, device=at.q.device)


class InCache(Zoned):
    """D counts in a cache of the first `sinks` and the last `recent` tokens: n among the recent, C
    - 1 - j to a sink once it is full.

    C = sinks + recent. arXiv 2309.17453 (StreamingLLM). A mask has to hide the tokens in neither
    part.
    """

    def __init__(self, part: Scheme, sinks: int, recent: int):
        super().__init__(part)
        self.sinks = sinks
        self.recent = recent

    def places(self, at: Where) -> list[Where]:
        size = self.sinks + self.recent
        last = at.coordinate(size - 1)  # the last place in a full cache
        q = at.q.clamp(max=last)
        return [at, at.moved(q, at.k, self)]

    def zone(self, at: Where) -> Tensor:
        return (at.back >= self.recent).long()


def _no_cache(part: Scheme) -> None:
    for inner in part.modules():
        if isinstance(inner, InCache):
            raise ValueError(
                "places in a cache have no other distances to be given; StreamingLLM comes last"
            )


class DualChunk(Zoned):
    """D = P_i - j mod s in chunks of s = c - w: i mod s in the chunk of the key, min(i mod s + s,
    c) in the next, min(2 s - 1, c) farther on. arXiv 2402.17463 (dual chunk attention), as in its
    code. 1 <= w <= s: keys within w lie in this chunk or the one before.
    """

    def __init__(self, part: Scheme, farthest: int, window: int):
        super().__init__(part)
        _no_cache(part)
        self.farthest = farthest
        self.chunk = farthest - window
        self.last = min(2 * self.chunk - 1, farthest)

    def places(self, at: Where) -> list[Where]:
        """Pairs of one chunk keep their own coordinates, which have the same distance."""
        q = at.q - self._chunk(at.q) * self.chunk
        k = at.k - self._chunk(at.k) * self.chunk
        in_next = (q + self.chunk).clamp(max=self.farthest)
        farther = torch.full_like(q, self.last)
        return [
            at,
            at.moved(in_next, k, (self, "next")),
            at.moved(farther, k, (self, "farther")),
        ]

    def zone(self, at: Where) -> Tensor:
        chunk_of_q = self._chunk(at.q)
        chunk_of_k = self._chunk(at.k)
        chunks_back = chunk_of_q[:, None] - chunk_of_k
        return chunks_back.clamp(0, 2).long()

    def _chunk(self, t: Tensor) -> Tensor:
        return whole_steps(t / self.chunk).double()
