"""LongRoPE: a search finds a factor for every pair, by which the pair slows. arXiv 2402.13753.

theta'_p = theta_p / long_p in texts longer than L, theta_p / short_p in others

In texts longer than L content logits grow by 1 + ln s / ln L. extrap/extensions/longrope_search.py
searches for long_p. In the paper the first tokens of a text keep their positions; here and in
transformers they do not.
"""

from math import log, sqrt

import torch
from torch import Tensor

from extrap.extensions.by_parts import by_parts, kept_by_index
from extrap.extensions.frequencies import Frequencies, Temperature
from extrap.model.spectrum import Pairs
from extrap.utils.bounds import Factor, Positive

Slower = list[Positive]


class LongRoPE(Frequencies):
    """LongRoPE: a factor for every pair, which a search finds.

    Args:
        factor: s
        long: one number per pair, for texts longer than L; null: as YaRN
        short: one number per pair, for other texts; null: all 1, so that up to L nothing changes
        temperature: logits heats content logits past L; channels multiplies channels that turn by
            the root at every length, short texts too, as transformers does for models fine-tuned
            so; null: channels in a published checkpoint, logits in others

    Refuses a scheme with another number of pairs.
    """

    factor: float  # never null here

    def __init__(
        self,
        factor: Factor = 8.0,
        long: Slower | None = None,
        short: Slower | None = None,
        temperature: Temperature | None = None,
    ):
        super().__init__(factor)
        self.temperature = temperature
        self.long, self.short = long, short

    def theta(self, pairs: Pairs, s: float) -> Tensor:
        if self.long is None:
            return by_parts(pairs, s, kept_by_index)
        return pairs.theta / self._each("long", self.long, pairs)

    def change(self, pairs: Pairs, n: int) -> Tensor:
        if n > pairs.length:
            return self.theta(pairs, self.factor)
        if self.short is None:
            return pairs.theta
        return pairs.theta / self._each("short", self.short, pairs)

    def heat(self, n: int, length: int) -> float:
        """Returns 1 + ln s / ln L past L: its root on queries and on keys."""
        return 1 + log(self.factor) / log(length) if n > length else 1.0

    def amplitude(self, n: int, length: int) -> float:
        return sqrt(self.heat(length + 1, length))

    @staticmethod
    def _each(name: str, values: list[float], pairs: Pairs) -> Tensor:
        if len(values) != len(pairs.theta):
            raise ValueError(f"{name}: {len(values)} factors given for {len(pairs.theta)} pairs")
        return torch.tensor(values, dtype=torch.float64, device=pairs.theta.device)
