"""Repeated text as training data: a stretch of running text, over and over.

    BOS  x[0] ... x[u-1]  x[0] ... x[u-1]  x[0] ...        only tokens from the second copy on are
         scored

A look u tokens back predicts these tokens; running text alone hardly teaches a tiny model to look.
The periods u are uniform among `shortest` ... length // 2, so that the distance itself is of no
use; `RepeatedWithin` ends them at `longest`, so that dependencies have a known width.
Source: https://kexue.fm/archives/9708 (as a test).
"""

from dataclasses import dataclass

import numpy as np

from extrap.data.context import Context
from extrap.data.part import Drawn, Part, Size, Weight
from extrap.data.vocabulary import Vocabulary
from extrap.utils.bounds import Count, at_least, at_most


@dataclass(frozen=True, kw_only=True)
class RepeatedText(Part):
    """Training sequences of repeated text.

    Args:
        shortest: fewest tokens of a text that is repeated
    """

    size: Size = 16
    weight: Weight = 1.0
    shortest: Count = 8

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        half = f"half of data.length={length}"
        at_most(f"{option}.shortest", self.shortest, length // 2, half)

    def draw(self, context: Context, difficulty: float) -> Drawn:
        at = np.arange(context.length)
        most = self.most(context.length)
        period = context.rng.integers(self.shortest, most + 1, size=self.size)[:, None]
        text = context.texts(self.size, context.length)
        text = np.take_along_axis(text, at % period, 1)
        bos = np.full((self.size, 1), context.vocabulary.bos)
        return np.concatenate([bos, text], axis=1), at >= period

    def most(self, length: int) -> int:
        """Returns the longest period in windows of `length` tokens."""
        return length // 2


@dataclass(frozen=True, kw_only=True)
class RepeatedWithin(RepeatedText):
    """Repeated text whose length has an upper bound in tokens.

    Args:
        longest: tokens of the longest text that is repeated, whatever the training length
    """

    longest: Count = 32

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        super().check(option, vocabulary, length)
        half = f"half of data.length={length}"
        at_most(f"{option}.longest", self.longest, length // 2, half)
        at_least(f"{option}.longest", self.longest, self.shortest, f"as {option}.shortest")

    def most(self, length: int) -> int:
        return self.longest
