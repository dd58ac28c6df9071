"""Interpolation by parts: it keeps pairs that turned often in training, and slows pairs that made
less than a turn by s.

r_p = L theta_p / (2 pi) turns in training
theta'_p = theta_p (1 - m_p) / s + theta_p m_p,   m_p the kept share of pair p
turns  m_p = clip((r_p - slow) / (fast - slow), 0, 1), arXiv 2309.00071, section 3.2; with slow = 1,
       fast = 4 it is Llama 3.1's
index  m_p falls from 1 to 0 over whole pairs, from floor(p(fast)) to ceil(p(slow)),
       p(r) = d ln(L / (2 pi r)) / (2 ln base), as in the code of the authors and of later
       libraries; the two ramps differ by up to 144 % in a frequency
slow and fast are the options beta_slow and beta_fast, in turns. null for beta_fast stands for 32
from L = 2048 on, and for max(2, L / 64) below: there no pair makes 32 turns, and 32 would slow all.
"""

from collections.abc import Callable
from math import ceil, floor, log, pi
from typing import Literal

from torch import Tensor

from extrap.extensions.frequencies import Frequencies, Temperature
from extrap.model.spectrum import Pairs
from extrap.utils.bounds import Factor, NotNegative, Positive

MOST = 1e300
"""Turns whose logarithm is a number for every length; so is that of one over them."""


def fastest(fast: float | None, length: int) -> float:
    """Returns the turns from which the ramp keeps a pair."""
    if fast is not None:
        return fast
    return 32.0 if length >= 2048 else max(2.0, length / 64)


def kept_by_turns(pairs: Pairs, slow: float, fast: float) -> Tensor:
    """Returns m_p (P,), linear in turns."""
    return ((pairs.turns - slow) / (fast - slow)).clamp(0, 1)


def kept_by_index(pairs: Pairs, slow: float, fast: float) -> Tensor:
    """Returns m_p (P,), linear in the index of the pair."""

    def at(r: float) -> float:
        r = min(max(r, 1 / MOST), MOST)
        log_period = log(pairs.length / (2 * pi * r))
        return pairs.width * log_period / (2 * log(pairs.base))

    low = max(floor(at(fast)), 0)
    high = min(ceil(at(slow)), pairs.width - 1)
    high = max(high, low)
    slowed = (pairs.index - low) / (high - low or 0.001)
    return 1 - slowed.clamp(0, 1)


Kept = Callable[[Pairs, float, float], Tensor]
"""(pairs, slow, fast) -> m_p (P,)."""


def by_parts(
    pairs: Pairs, s: float, kept: Kept, slow: float = 1.0, fast: float | None = None
) -> Tensor:
    """Returns theta' (P,) under one of the ramps."""
    m = kept(pairs, slow, fastest(fast, pairs.length))
    interpolated = pairs.theta * (1 - m) / s
    return interpolated + pairs.theta * m


class NTKByParts(Frequencies):
    """NTK by parts: the ramp over turns, without a temperature.

    Args:
        beta_slow: turns within L below which a pair is interpolated in full
        beta_fast: turns within L above which a pair stays as it is; null: see above

    Raises ValueError unless beta_slow < beta_fast.

    Source: arXiv 2309.00071; Llama 3.1: arXiv 2407.21783
    """

    def __init__(
        self, factor: Factor | None = 8.0, beta_slow: Positive = 1.0, beta_fast: float | None = None
    ):
        super().__init__(factor)
        if beta_slow >= (2 if beta_fast is None else beta_fast):
            raise ValueError(
                f"beta_slow={beta_slow}, beta_fast={beta_fast}: turns, beta_slow < beta_fast; null "
                "for beta_fast is 2 or more"
            )
        self.beta_slow = beta_slow
        self.beta_fast = beta_fast
        self.kept: Kept = kept_by_turns

    def theta(self, pairs: Pairs, s: float) -> Tensor:
        return by_parts(pairs, s, self.kept, self.beta_slow, self.beta_fast)


class YaRN(NTKByParts):
    """YaRN: one of the ramps, and a temperature of (slope ln s + 1)**2.

    Args:
        ramp: over the `index` of the pairs or over their `turns`
        slope: of the temperature over ln s
        temperature: logits heats all content logits; channels multiplies cosine and sine by slope
            ln s + 1, as the authors and transformers do, which misses channels that do not turn and
            comes before a cap on logits; null: channels in a published checkpoint, logits in others

    Raises ValueError unless beta_slow < beta_fast.
    """

    def __init__(
        self,
        factor: Factor | None = 8.0,
        ramp: Literal["index", "turns"] = "index",
        beta_slow: Positive = 1.0,
        beta_fast: float | None = None,
        slope: NotNegative = 0.1,
        temperature: Temperature | None = None,
    ):
        super().__init__(factor, beta_slow, beta_fast)
        self.temperature = temperature
        self.kept = kept_by_index if ramp == "index" else kept_by_turns
        self.slope = slope

    def heat(self, n: int, length: int) -> float:
        s = self.effective(n, length)
        return (self.slope * log(s) + 1) ** 2
