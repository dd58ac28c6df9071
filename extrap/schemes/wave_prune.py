"""WavePrune: a pair of channels counts only for keys nearer than one of its periods. arXiv
2610.06963.

s_ij = scale sum_p Re(q_p conj(k_p) e^(I (i - j) theta_p)) [i - j < periods 2 pi / theta_p]
A pair cannot tell keys a whole turn apart; its window ends where its angles begin to repeat. The
pair leaves the sum, and the key stays visible to slower pairs. Channels that do not turn count
everywhere. From the abstract, and a report of equation 6 of the paper; we did not have its code.
"""

from math import pi

import torch
from torch import Tensor

from extrap.model.rotary import Layout, Rotary, pairing
from extrap.model.scheme import Shape, Where, product
from extrap.utils.bounds import Positive


class OnePeriod(Rotary):
    """A rotary scheme each of whose pairs counts within `periods` of its turns."""

    periods: float

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        windows = self.periods * 2 * pi / self.theta(at)
        channels = self.channels(len(windows))
        reach = float(at.distance.max()) if at.distance.numel() else 0.0
        s = product(q, k)
        for window, pair in zip(windows.tolist(), channels, strict=True):
            if window <= reach:
                of_pair = product(q[..., pair], k[..., pair])
                s = s - of_pair * (at.distance >= window)
        return s * at.scale

    def channels(self, count: int) -> list[list[int]]:
        """Returns the two channels of each of the first `count` pairs."""
        if isinstance(self.layout, list):  # it may name channels that do not turn, at its end
            return torch.tensor(self.layout[: 2 * count]).view(-1, 2).tolist()
        return pairing(self.layout, 2 * count).tolist()


class WavePrune(OnePeriod):
    """Rotary position embedding whose pairs count only for keys nearer than one period.

    Args:
        periods: the window of a pair in its periods; the paper has 1

    Raises ValueError for an odd head width, a base of 1 or less and channels that the layout does
    not pair.

    Kind: relative
    Past L: defined; slow pairs meet angles never trained, none of them twice
    """

    def __init__(
        self,
        shape: Shape,
        base: float = 10000.0,
        periods: Positive = 1.0,
        layout: Layout = "interleaved",
    ):
        super().__init__(shape, base, layout)
        self.periods = periods
