"""Dynamic NTK: NTK-aware scaling whose factor follows the text. https://www.reddit.com/r/LocalLLaMA/comments/14mrgpr.

s(n) = max(1, f n / L - (f - 1)), f = 1: n / L;   theta'_p = theta_p s**(-2p/(d-2))
sequence: n is the length of the whole text, so logits of its start change as it grows.
row: n = i + 1 for query i, which turns keys anew for every row: time T times that of a rotation, memory as ever. Prefixes are kept.
Up to L nothing changes. A cache would have to hold keys that are not yet turned.
"""

from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from extrap.model.card import parts
from extrap.extensions.base import replace_parts
from extrap.extensions.frequencies import Frequencies
from extrap.extensions.ntk import bloc97
from extrap.model.scheme import Scheme, Where
from extrap.model.spectrum import Pairs, turns_pairs


class DynamicNTK(Frequencies):
    """factor: f; 1 is natural, transformers' "dynamic" with its factor f is the same formula. mode: sequence or row, above.

    Rows carry s(n). Row mode needs a scheme that turns queries and keys, and nothing else. Raises ValueError for a factor below 1.
    Source: https://www.reddit.com/r/LocalLLaMA/comments/14mrgpr
    """

    def __init__(self, factor: float = 1.0, mode: Literal["sequence", "row"] = "sequence"):
        super().__init__(factor)
        self.mode = mode

    def effective(self, n: int, length: int) -> float:
        return max(1.0, self.factor * n / length - (self.factor - 1))

    def theta(self, pairs: Pairs, s: float) -> Tensor:
        return bloc97(pairs, s)

    def extend(self, scheme: Scheme) -> Scheme:
        scheme = super().extend(scheme)
        if self.mode == "sequence":
            return scheme
        if any(turns_pairs(part) and not part.uses("rotate") for part in parts(scheme)):
            raise self.refuse(scheme, "mode=row turns queries and keys alone; mode=sequence works there")
        return replace_parts(scheme, turns_pairs, ByRow)


class ByRow(Scheme):
    """A rotation whose spectrum depends on the length, taken for each query as in a forward that ends with it."""

    def __init__(self, part: Scheme):
        super().__init__(part.shape)
        self.part = part

    @property
    def scale(self) -> float:
        return self.part.scale

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        # Rows up to L share one spectrum; from there on each has its own.
        inside = int((at.i < self.shape.length).sum())
        rows = [slice(0, inside)] * (inside > 0) + [slice(n, n + 1) for n in range(inside, len(at.i))]
        return torch.cat([self._rows(q[:, :, r], k, at, r) for r in rows], 2)

    def _rows(self, q: Tensor, k: Tensor, at: Where, rows: slice) -> Tensor:
        here = replace(at, q=at.q[rows], i=at.i[rows], length=int(at.i[rows][-1]) + 1, memo={})
        return self.part.score(*self.part.rotate(q, k, here), here)
