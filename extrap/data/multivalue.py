"""Retrieval of several values: a key stands in m records, and whoever asks for it wants all of its
values.

    BOS  [records k v and text in a random order, every key in m records]  k v  k v  k v ...
         queries; each answer is one of m

Each query is answered with one of the values of its key, drawn at random, so that the best a model
can do is to give all m the same probability: the m most likely tokens are then the whole set, told
in one forward pass.
"""

from dataclasses import dataclass

import numpy as np

from extrap.data.curriculum import Graded, counts
from extrap.data.keyvalue import most
from extrap.data.text import windows
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError


@dataclass(frozen=True, kw_only=True)
class MultiValue(Graded):
    """Training sequences of keys with several values each.

    size: sequences per step; weight: of their mean loss in the sum; values: the most records of a
    key, whose number is drawn from 1 to it for every sequence. Easy: a log-uniform
    number of keys and no filler; hard: a uniform number, and in a share `scattered` of the
    sequences a random amount of training text between records.

    Raises ValueError for fewer than one value and for shares outside 0 ... 1.
    """

    size: int = 32
    weight: float = 1.0
    values: int = 4
    scattered: float = 0.5

    def __post_init__(self) -> None:
        if self.values < 1:
            raise ValueError(f"values={self.values}: at least 1")
        if not 0 <= self.scattered <= 1:
            raise ValueError(f"scattered={self.scattered}: a share from 0 to 1")

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        if self.values > min(most(length), vocabulary.values):
            raise UserError(
                f"{option}.values={self.values}: a sequence of {length} tokens holds "
                f"{most(length)} records and there are "
                f"data.vocabulary.values={vocabulary.values} "
                "values; give a smaller number"
            )
        if most(length) > vocabulary.keys:
            raise UserError(
                f"{option}: {most(length)} keys in {length} tokens, but "
                f"data.vocabulary.keys={vocabulary.keys}; raise it"
            )

    def draw(
        self,
        rng: np.random.Generator,
        stream: np.ndarray,
        vocabulary: Vocabulary,
        length: int,
        difficulty: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sequences (size, length + 1) int64 and which of their tokens 1 ... length are answers;
        difficulty: 0 easy, 1 hard.
        """
        text = windows(rng, stream, self.size, length)
        each = rng.integers(1, self.values + 1, self.size)
        filled = rng.random(self.size) < difficulty * self.scattered
        rows = [
            self._row(rng, vocabulary, length, difficulty, *one)
            for one in zip(each, filled, text, strict=True)
        ]
        sequences, scored = (np.stack(arrays) for arrays in zip(*rows, strict=True))
        return sequences, scored[:, 1:]

    @staticmethod
    def _row(
        rng, vocabulary, length, difficulty, each, filled, text
    ) -> tuple[np.ndarray, np.ndarray]:
        """One sequence (length + 1,) with `each` values of a key, and where its answers stand."""
        keys = int(counts(rng, 1, 1, most(length) // each, difficulty)[0])
        names = vocabulary.key(rng.permutation(vocabulary.keys)[:keys])
        values = vocabulary.value(rng.random((keys, vocabulary.values)).argsort(1)[:, :each])
        records = np.stack([names.repeat(each), values.ravel()], axis=1)[
            rng.permutation(keys * each)
        ]
        filler = int(rng.integers(length - 1 - records.size)) if filled else 0
        is_record = np.zeros(filler + len(records), bool)
        is_record[rng.permutation(len(is_record))[: len(records)]] = True
        body = place(is_record, records, text[:filler])
        n = length + 1 - 1 - len(body)
        which = rng.integers(keys, size=-(-n // 2))
        asked = np.stack(
            [names[which], values[which, rng.integers(each, size=len(which))]], axis=1
        ).ravel()[:n]
        answers = np.zeros(length + 1, bool)
        answers[1 + len(body) + 1 :: 2] = True
        return np.concatenate([[vocabulary.bos], body, asked]), answers


def place(is_record: np.ndarray, records: np.ndarray, filler: np.ndarray) -> np.ndarray:
    """Records (n, 2) and filler tokens in the order that is_record tells, each kind in its own
    order: (2 n + filler,).
    """
    width = np.where(is_record, 2, 1)
    slot = width.cumsum() - width
    body = np.empty(width.sum(), np.int64)
    body[slot[~is_record]] = filler
    body[slot[is_record]], body[slot[is_record] + 1] = records.T
    return body
