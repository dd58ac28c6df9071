"""Dynamic NTK: NTK-aware scaling whose factor follows the text.
https://www.reddit.com/r/LocalLLaMA/comments/14mrgpr.

s(n) = max(1, f n / L - (f - 1)), f = 1: n / L;   theta'_p = theta_p s**(-2p/(d-2))
sequence: n is the length of the whole text, so that logits of its start change as the text grows.
row: n = i + 1 for query i: prefixes keep their logits, and every row rotates keys anew, T times the
time of a rotation in the same memory. Up to L nothing changes. A cache would have to hold unrotated
keys.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor

from extrap.extensions.frequencies import Frequencies
from extrap.extensions.ntk import bloc97
from extrap.model.parts import parts
from extrap.model.scheme import Scheme, Where
from extrap.model.spectrum import Pairs, turns_pairs
from extrap.model.wrapper import Rescored
from extrap.utils.bounds import Factor


class DynamicNTK(Frequencies):
    """Dynamic NTK: NTK-aware scaling whose factor s(n) follows the length of the text.

    Args:
        factor: f of the formula above, as in transformers' "dynamic"
        mode: sequence or row

    Rows record s(n). Row mode needs a scheme in which queries and keys alone turn.
    """

    factor: float  # never null here

    def __init__(self, factor: Factor = 1.0, mode: Literal["sequence", "row"] = "sequence"):
        super().__init__(factor)
        self.mode = mode

    def effective(self, n: int, length: int) -> float:
        f = self.factor
        return max(1.0, f * n / length - (f - 1))

    def theta(self, pairs: Pairs, s: float) -> Tensor:
        return bloc97(pairs, s)

    def extend(self, scheme: Scheme) -> Scheme:
        scheme = super().extend(scheme)
        if self.mode == "sequence":
            return scheme
        for part in parts(scheme):
            if turns_pairs(part) and not part.uses("rotate"):
                raise ValueError("mode=row turns queries and keys alone; mode=sequence works there")
        return ByRow(scheme)


class ByRow(Rescored):
    """A scheme whose spectrum depends on the length, computed for each query as in a forward that
    ends with it: `score` and `bias` rotate queries and keys themselves.
    """

    taken = frozenset({"rotate"})

    def __init__(self, part: Scheme):
        super().__init__(part.shape)
        self.part = part

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        if at.near:
            return self.part.rotate(q, k, at)
        return q, k

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        rows = [self.part.score(*turned) for turned in self._rows(q, k, at)]
        return torch.cat(rows, 2)

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor | None:
        rows: list[Tensor] = []
        for turned_q, turned_k, here in self._rows(q, k, at):
            b = self.part.bias(turned_q, turned_k, here)
            if b is None:
                return None
            rows.append(b.expand(*b.shape[:-2], len(here.i), len(here.j)))
        return torch.cat(rows, -2)

    def _rows(self, q: Tensor, k: Tensor, at: Where) -> Iterator[tuple[Tensor, Tensor, Where]]:
        """Yields rotated queries and keys and their place, by rows that share a spectrum."""
        inside = int((at.i < self.shape.length).sum())
        ends = range(max(1, inside), len(at.i) + 1)
        for start, stop in pairwise([0, *ends]):
            i = at.i[start:stop]
            end = int(i[-1]) + 1
            here = replace(at, q=at.q[start:stop], i=i, length=end, memo={})
            rows = q[:, :, start:stop]
            turned_q, turned_k = self.part.rotate(rows, k, here)
            yield turned_q, turned_k, here
