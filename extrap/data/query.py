"""Key-value sequences that name the asked keys before the records, as training data: query-aware
contextualisation.

    both    BOS  q ... q   k v  k v ... k v   t    q v  q v ...     t one token of text; the v of
            the queries are scored
    first   BOS  q ... q   k v  k v ... k v   BOS  q v  q v ...     the first q after the second BOS
            is scored as well

With `first` nothing at the end says what is asked: at the second BOS the model writes the first of
the asked keys down, then its value, an answer of two tokens. (To name the value at once takes a
third layer where positions are relative: which of the keys is the asked one can be told after the
first, what it is after the second.) Several keys are asked, so that a sequence has several answers;
a test asks one. Then the same queries come again, not scored. Source: arXiv 2307.03172, section
4.2. One of `first`, 2 of 8 records asked:

    <bos> k193 k225 k7 v41 k86 v24 k63 v21 k193 v24 k156 v45 k173 v32 k225 v1 k209 v1 <bos> k193 v24
    k225 v1
"""

from dataclasses import dataclass

import numpy as np

from extrap.data.curriculum import Graded, counts
from extrap.data.keyvalue import FEWEST, check_keys
from extrap.data.text import windows
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError


def most_asked_first(length: int) -> int:
    """The most records in `length` tokens next to BOS, a key before them, the token after them and
    a query.
    """
    return length // 2 - 2


@dataclass(frozen=True, kw_only=True)
class Query(Graded):
    """Training sequences with the asked keys in front.

    size: sequences per step; weight: of their mean loss in the sum; first: share of `first`, the
    others are `both`. Easy: a log-uniform number of records in
    [2, length // 2 - 2]; hard: a uniform one. The number of asked keys is uniform from 1 to what
    there is room for, at most the number of records; it moves the records over odd and even slots.

    Raises ValueError for shares outside 0 ... 1.
    """

    size: int = 16
    weight: float = 1.0
    first: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.first <= 1:
            raise ValueError(f"first={self.first}: a share of the sequences, from 0 to 1")

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        if most_asked_first(length) < FEWEST:
            raise UserError(
                f"{option}: data.length={length} is too short; give at least {2 * FEWEST + 4} "
                f"tokens, or {option}.size=0"
            )
        check_keys(vocabulary, most_asked_first(length), length)

    def draw(
        self,
        rng: np.random.Generator,
        stream: np.ndarray,
        vocabulary: Vocabulary,
        length: int,
        difficulty: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        sequences = np.empty((self.size, length + 1), np.int64)
        scored = np.zeros((self.size, length + 1), bool)
        every = counts(rng, self.size, FEWEST, most_asked_first(length), difficulty)
        cues = windows(rng, stream, self.size, 1)[:, 0]
        for row, score, records, cue in zip(sequences, scored, every, cues, strict=True):
            keys = vocabulary.key(rng.permutation(vocabulary.keys)[:records])
            values = vocabulary.value(rng.integers(vocabulary.values, size=records))
            asked = rng.permutation(records)[
                : rng.integers(1, max(1, (length - 1 - 2 * records) // 3) + 1)
            ]
            first = rng.random() < self.first
            query = np.resize(np.stack([keys, values], 1)[asked], (length, 2)).ravel()
            head = (
                [vocabulary.bos],
                keys[asked],
                np.stack([keys, values], 1).ravel(),
                [vocabulary.bos if first else cue],
                query,
            )
            row[:] = np.concatenate(head)[: length + 1]
            start = 1 + len(asked) + 2 * records
            score[start + 2 : start + 2 + 2 * len(asked) : 2] = True
            score[start + 1] = first
        return sequences, scored[:, 1:]
