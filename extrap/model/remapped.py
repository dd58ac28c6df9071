"""Distances other than i - j, entry by entry: a scheme read at several places at once.

Each pair of query and key belongs to a zone, and each zone has coordinates of its own. Score,
biases and mix of the scheme inside come from the place of the pair's zone. A map of distances is
then a partition and a few pairs of coordinate vectors, and serves rotations, biases and stacks of
both. Most maps have two zones: near pairs keep their coordinates, all others have those of `far`.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Where
from extrap.model.wrapper import Rescored


class Zoned(Rescored):
    """A map of distances. part: the scheme inside. A subclass gives the coordinates of its zones
    and the zone of each pair.

    `rotate` rotates queries and keys once for each zone and sets the results side by side, zone 0
    first. Kernels then join scores by blocks of query rows, in memory linear in the length. Layers
    whose attention one part owns stay as they are. Raises ValueError if that is every layer.
    """

    taken = frozenset({"distance_bias"})

    def __init__(self, shape: Shape, part: Scheme):
        super().__init__(shape)
        if all(part.uses("attend", layer=layer) for layer in range(shape.layers)):
            raise ValueError(
                f"{type(part).__name__} owns attention altogether and has no score per pair to "
                "take at other distances"
            )
        self.part = part

    @abstractmethod
    def places(self, at: Where) -> list[Where]:
        """Returns the same tokens at the coordinates of each zone (at.moved), (Tq,) and (Tk,)."""

    @abstractmethod
    def zone(self, at: Where) -> Tensor:
        """Returns the index in `places` of the zone of each pair: (Tq, Tk) int64."""

    def stretch(self, n: int) -> float | None:
        return None

    def own(self, layer: int | None) -> set[str]:
        biased = self.part.uses("distance_bias", layer=layer)
        return {"rotate", "score", "bias"} if biased else {"rotate", "score"}

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        turned = [self.part.rotate(q, k, place) for place in self.places(at)]
        of_q, of_k = zip(*turned, strict=True)
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
            if of_distance is None or of_content is None:
                return of_content if of_distance is None else of_distance
            return of_distance + of_content

        return self._joined(biases, q, k, at)

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        if not self.part.uses("mix", layer=at.layer):
            return self.part.mix(a, v, at)
        mixed = [self.part.mix(a * inside, v, place) for _, place, inside in self._zones(at)]
        return torch.stack(mixed).sum(0)

    def _zones(self, at: Where) -> Iterator[tuple[int, Where, Tensor]]:
        """Yields index, place and pairs (Tq, Tk) of each zone that has pairs."""
        zone = self.zone(at)
        for n, place in enumerate(self.places(at)):
            inside = zone == n
            if inside.any():
                yield n, place, inside

    def _joined(
        self,
        compute: Callable[[Tensor, Tensor, Where], Tensor | None],
        q: Tensor,
        k: Tensor,
        at: Where,
    ) -> Tensor | None:
        """Returns the entries of `compute` at the place of each pair; None if it returns None."""
        places = len(self.places(at))
        of_q, of_k = q.chunk(places, -1), k.chunk(places, -1)
        joined: Tensor | None = None
        for n, place, inside in self._zones(at):
            entries = compute(of_q[n], of_k[n], place)
            if entries is None:
                return None
            joined = entries if joined is None else torch.where(inside, entries, joined)
        return joined


class Remapped(Zoned):
    """A map of two zones: near pairs keep their coordinates, all others are far."""

    @abstractmethod
    def near(self, at: Where) -> Tensor:
        """Returns the pairs that keep their coordinates: (Tq, Tk) bool."""

    @abstractmethod
    def far(self, at: Where) -> Where:
        """Returns the same tokens at the coordinates of all other pairs, by at.moved."""

    def places(self, at: Where) -> list[Where]:
        return [at, self.far(at)]

    def zone(self, at: Where) -> Tensor:
        return (~self.near(at)).long()
