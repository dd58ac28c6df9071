"""Windows of running text."""

from dataclasses import dataclass

import numpy as np

from extrap.data.part import Part
from extrap.data.vocabulary import Vocabulary


def windows(rng: np.random.Generator, stream: np.ndarray, count: int, length: int) -> np.ndarray:
    """`count` stretches of `length` tokens at places drawn from the whole stream, (count, length)
    int64.
    """
    starts = rng.integers(len(stream) - length + 1, size=count)
    return stream[starts[:, None] + np.arange(length)].astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class Text(Part):
    """Language modelling: every token after BOS is scored. size: windows per step; weight: of its
    mean loss in the sum.
    """

    size: int = 16
    weight: float = 2.0

    def draw(
        self,
        rng: np.random.Generator,
        stream: np.ndarray,
        vocabulary: Vocabulary,
        length: int,
        difficulty: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sequences (size, length + 1) int64 that begin with BOS, and which of their tokens 1 ...
        length are scored.
        """
        text = windows(rng, stream, self.size, length)
        bos = np.full((self.size, 1), vocabulary.bos)
        return np.concatenate([bos, text], axis=1), np.ones((self.size, length), bool)
