"""What a training batch is made of: a part draws sequences and says which of their tokens are scored."""

from abc import ABC, abstractmethod

import numpy as np

from extrap.data.vocabulary import Vocabulary


class Part(ABC):
    """size: sequences per step, 0 leaves the part out; weight: of the mean loss of its scored tokens in the sum."""

    size: int
    weight: float

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        """Raises UserError, naming the option, where its sequences do not fit into `length` tokens or the vocabulary."""
        return None

    @abstractmethod
    def draw(
        self, rng: np.random.Generator, stream: np.ndarray, vocabulary: Vocabulary, length: int, progress: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sequences (size, length + 1) int64 that begin with BOS, and which of their tokens 1 ... length are scored, (size, length).

        A pure function of its arguments; stream: the tokens of the training text; progress: share of training done, in [0, 1).
        """
