"""Distances other than i - j, entry by entry: a scheme read at several places at once.

Each pair of query and key belongs to a zone, and each zone has coordinates of its own. Score,
biases and the mixing of values of the scheme inside are taken from the place each pair belongs to,
so that a map of distances is a partition and a few pairs of coordinate vectors, and works on
rotations, biases and stacks of both alike. Most maps have two zones: near pairs meet at their own
coordinates, all others at those of `far`.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Where
from extrap.model.wrapper import Rescored


class Zoned(Rescored):
    """part: the scheme inside. A map says where its zones meet and to which zone a pair belongs.

    Rotated queries and keys are as many times as wide as there are zones: rotated for zone 0 first.
    All rotations run over the whole length once, as every rotation does; scores are then joined by
    blocks of query rows, in memory linear in the length. Layers whose attention one part owns
    altogether have no scores to join and stay as they are. Raises ValueError if all layers are so.
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
        """The same tokens at the coordinates of each zone (at.moved); of size (Tq,) and (Tk,)."""

    @abstractmethod
    def zone(self, at: Where) -> Tensor:
        """(Tq, Tk) int64: the index in `places` of the zone of each pair."""

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
        """Nothing: a bias of the distance is one of the pair here, and part of `bias`."""

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor | None:
        def biases(q: Tensor, k: Tensor, at: Where) -> Tensor | None:
            of_distance, of_content = (
                self.part.distance_bias(at.distance, at.layer),
                self.part.bias(q, k, at),
            )
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
        """Index, place and pairs (Tq, Tk) of each zone that has any."""
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
        """Entries of compute at the place each pair belongs to; None where it gives None, as a part
        does in layers in which it is absent.
        """
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
    """Two zones: near pairs keep their coordinates, all others are far."""

    @abstractmethod
    def near(self, at: Where) -> Tensor:
        """(Tq, Tk) bool: pairs that keep their coordinates."""

    @abstractmethod
    def far(self, at: Where) -> Where:
        """The same tokens at the coordinates of all other pairs (at.moved); of size (Tq,) and
        (Tk,).
        """

    def places(self, at: Where) -> list[Where]:
        return [at, self.far(at)]

    def zone(self, at: Where) -> Tensor:
        return (~self.near(at)).long()
