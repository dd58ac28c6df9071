"""PoSE: skip-wise positions while tuning, so that windows of L tokens teach distances of factor L.
arXiv 2309.10400.

training: coordinates 0 .. r - 1, r + u .. n - 1 + u;   r uniform in 1 .. (n + 1) / 2,
    u uniform in 0 .. factor L - n, drawn anew for each forward and shared by the texts of a batch
reading: coordinates as they are, under the method of the tuning (interpolation in the paper)
Neighbours stay neighbours in both chunks. The paper skips text as well: its second chunk comes from
later in the text. Here the text stays whole.
"""

from copy import deepcopy

import torch
from torch import Tensor

from extrap.extensions.base import SchemeExtension, with_parts
from extrap.model.scheme import Scheme, Shape
from extrap.model.spectrum import frequencies_used


class Skipwise(Scheme):
    """Coordinates of two chunks in training, below `most` in all. Draws from torch's CPU generator.

    Kind: modifier
    Used by: -
    Past L: defined; training met distances up to `most`
    Source: arXiv 2309.10400
    """

    def __init__(self, shape: Shape, most: int):
        super().__init__(shape)
        self.most = most

    def positions(self, t: Tensor) -> Tensor:
        n = len(t)
        if not self.training or n < 2 or n >= self.most:
            return t
        first = int(torch.randint(1, (n + 1) // 2 + 1, ()))
        skipped = int(torch.randint(0, self.most - n + 1, ()))
        return torch.where(torch.arange(n, device=t.device) < first, t, t + skipped)


class PoSE(SchemeExtension):
    """method: the extension to tune for; its factor is the length to tune for, over L.

    Tuning uses windows of L tokens (tuned_at = 1) unless finetune.factor overrides it; untuned PoSE
    is its method. Raises ValueError for a method that follows the length of the text, or whose
    factor is at most 1. Source: arXiv 2309.10400
    """

    layers = "all"
    tuned_at = 1.0

    def __init__(self, method: SchemeExtension):
        if method.factor is None or method.factor <= 1:
            raise ValueError(
                f"method.factor={method.factor}: give the number of training lengths to tune for, "
                "above 1"
            )
        if method.effective(2**20, 2**10) != method.effective(2**10, 2**10):
            raise ValueError("method: follows the length of the text, and tuning reads L tokens")
        self.method = method

    def effective(self, n: int, length: int) -> float:
        return self.method.effective(n, length)

    def positions(self, shape: Shape, most: int) -> Scheme:
        """Returns the part that lays out coordinates below `most` while tuning."""
        return Skipwise(shape, most)

    def extend(self, scheme: Scheme) -> Scheme:
        assert self.method.factor is not None
        L = scheme.shape.length
        if _draws_its_own(scheme):
            raise ValueError("in training it draws positions of its own and ignores those of PoSE")
        longest = round(self.method.factor * L)
        skipping = with_parts(Scheme(scheme.shape), self.positions(scheme.shape, longest))
        extended = self.method.applied(with_parts(skipping, *getattr(scheme, "parts", [scheme])))
        tuned, read = (frequencies_used(deepcopy(extended).eval(), n) for n in (L, 2 * L))
        if tuned is not None and read is not None and not torch.equal(tuned, read):
            raise ValueError(
                f"{type(self.method).__name__} turns pairs otherwise past L, and tuning reads L "
                "tokens"
            )
        return extended


def _draws_its_own(scheme: Scheme) -> bool:
    """True if the scheme ignores given coordinates in training."""
    t = torch.arange(scheme.shape.length, dtype=torch.float64)
    training = deepcopy(scheme).train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        plain = training.positions(t)
        torch.manual_seed(0)
        return torch.equal(plain, training.positions(3 * t))
