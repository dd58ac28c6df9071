"""What a training batch is made of: a part draws sequences and says which of their tokens are
scored.
"""

from abc import ABC, abstractmethod

import numpy as np

from extrap.data.vocabulary import Vocabulary

EARLY = 2
"""Mark of a token that is scored twice: by the whole model, and by its layers before the last."""


class Part(ABC):
    """size: sequences per step, 0 leaves the part out; weight: of the mean loss of its scored
    tokens in the sum.
    """

    size: int
    weight: float

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        """Raises UserError, naming the option, where its sequences do not fit into `length` tokens
        or the vocabulary.
        """
        return None

    @abstractmethod
    def draw(
        self,
        rng: np.random.Generator,
        stream: np.ndarray,
        vocabulary: Vocabulary,
        length: int,
        difficulty: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sequences (size, length + 1) int64 that begin with BOS, and which of their tokens 1 ...
        length are scored, (size, length): bool, or 0, 1 and EARLY.

        A pure function of its arguments; stream: the tokens of the training text; difficulty: 0
        easy ... 1 as hard as what is asked after training (data/curriculum.py).
        """
