"""A scheme that turns the queries and keys of some heads, and another that turns the rest."""

from collections.abc import Callable

import torch
from torch import Tensor

from extrap.model.parts import describe_parts
from extrap.model.scheme import HOOKS, Scheme, Shape, Where
from extrap.utils.bounds import Share


class Heads(Scheme):
    """Two schemes side by side: one in a share of the heads of every layer, one in the others.

    Args:
        part: the scheme of the first heads
        rest: the scheme of the other heads
        share: of the heads, that have `part`

    At least one head has `part`; of heads that share keys, whole groups: round(share G) of G.
    Raises ValueError for a part that acts on more than queries and keys.
    """

    def __init__(self, shape: Shape, part: Scheme, rest: Scheme, share: Share = 0.25):
        super().__init__(shape)
        for one in (part, rest):
            others = [hook for hook in HOOKS if hook != "rotate"]
            if one.uses(*others) or one.scale != self.scale:
                raise ValueError(f"{describe_parts(one)} cannot be limited to some heads")
        self.part = part
        self.rest = rest
        self.groups = shape.kv_heads or shape.heads
        self.first = max(1, round(share * self.groups))

    def inner(self, layer: int | None = None) -> list[Scheme]:
        if self.first == self.groups:
            return [self.part]
        return [self.part, self.rest]

    def mapped(self, change: Callable[[Scheme], Scheme]) -> Scheme:
        self.part = self.part.mapped(change)
        self.rest = self.rest.mapped(change)
        return self

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        if self.first == self.groups:
            return self.part.rotate(q, k, at)
        # hooks see every head: a part may rank them
        of_q, of_k = self.part.rotate(q, k, at)
        other_q, other_k = self.rest.rotate(q, k, at)
        return self._joined(of_q, other_q), self._joined(of_k, other_k)

    def _joined(self, some: Tensor, others: Tensor) -> Tensor:
        """Returns the first heads of `some` and the last of `others`."""
        heads = some.shape[1]
        first = self.first * heads // self.groups
        rest = others[:, first:]
        return torch.cat([some[:, :first], rest], 1)
