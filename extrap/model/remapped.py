"""Distances other than i - j, entry by entry: a scheme read at two places at once.

Near pairs of query and key meet at their own coordinates, all others at those of `far`. Score, biases and the mixing of values
of the scheme inside are taken from the place each pair belongs to, so that a map of distances is a mask and a pair of coordinate
vectors, and works on rotations, biases and stacks of both alike.
"""

from abc import abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Where
from extrap.model.wrapper import Wrapper


class Remapped(Wrapper):
    """part: the scheme inside. A map says which pairs are near and at which coordinates the others meet.

    Rotated queries and keys are twice as wide: rotated for near pairs first, for far ones second. Both rotations run over the
    whole length once, as every rotation does; scores are then joined by blocks of query rows, in memory linear in the length.
    Raises ValueError for a scheme that owns attention altogether, which has no scores to join.
    """

    def __init__(self, shape: Shape, part: Scheme):
        super().__init__(shape)
        if part.uses("attend"):
            raise ValueError(f"{type(part).__name__} owns attention altogether and has no score per pair to take at other distances")
        self.part = part

    @abstractmethod
    def near(self, at: Where) -> Tensor:
        """(Tq, Tk) bool: pairs that keep their coordinates."""

    @abstractmethod
    def far(self, at: Where) -> Where:
        """The same tokens at the coordinates of all other pairs (at.moved); of size (Tq,) and (Tk,)."""

    @property
    def inside(self) -> Scheme:
        return self.part

    def uses(self, *hooks: str) -> bool:
        own = {"rotate", "score"} | ({"bias"} if self.part.uses("distance_bias") else set())
        return bool(own & set(hooks)) or self.part.uses(*(set(hooks) - {"distance_bias"}))

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        near, far = self.part.rotate(q, k, at), self.part.rotate(q, k, self.far(at))
        return torch.cat([near[0], far[0]], -1), torch.cat([near[1], far[1]], -1)

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        return self._joined(self.part.score, q, k, at)

    def distance_bias(self, d: Tensor, layer: int) -> None:
        """Nothing: a bias of the distance is one of the pair here, and part of `bias`."""

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor | None:
        def biases(q: Tensor, k: Tensor, at: Where) -> Tensor:
            of_distance, of_content = self.part.distance_bias(at.distance, at.layer), self.part.bias(q, k, at)
            if of_distance is None or of_content is None:
                return of_content if of_distance is None else of_distance
            return of_distance + of_content

        return self._joined(biases, q, k, at) if self.part.uses("distance_bias", "bias") else None

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        near = self.near(at)
        if not self.part.uses("mix") or near.all():
            return self.part.mix(a, v, at)
        return self.part.mix(a * near, v, at) + self.part.mix(a * ~near, v, self.far(at))

    def attend(self, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
        return Scheme.attend(self, q, k, v, at)

    def _joined(self, compute: Callable[[Tensor, Tensor, Where], Tensor], q: Tensor, k: Tensor, at: Where) -> Tensor:
        near, (q_near, q_far), (k_near, k_far) = self.near(at), q.chunk(2, -1), k.chunk(2, -1)
        if near.all():
            return compute(q_near, k_near, at)
        return torch.where(near, compute(q_near, k_near, at), compute(q_far, k_far, self.far(at)))
