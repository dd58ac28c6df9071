"""Key-value retrieval with keys and values of several tokens: as training data and as a test.

    BOS  text   k k v v  k k v v ...   k k v v  k k v v ...      w = 2; after the records keys are
         asked, the v after them are scored

Keys are w key ids out of a small pool, so that records share tokens: who matches the last token of
a key alone, which a small model learns first, has to guess among the records that end alike. The
answer is all w tokens of the value. A UUID of Lost in the Middle (arXiv 2307.03172) is such a key;
one id for each is what makes retrieval easy to learn. One sequence of 24 tokens, 3 records, w = 2:

    <bos> k5 k13 v40 v5 k7 k2 v11 v47 k9 k0 v3 v43 k7 k2 v11 v47 k9 k0 v3 v43 k9 k0 v3
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.curriculum import Graded, counts
from extrap.data.text import windows
from extrap.data.trials.base import Form, OneQuestion
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError

WIDEST = 8
MOST = 2**20  # keys that are shuffled for every sequence


def draw_records(
    rng: np.random.Generator, vocabulary: Vocabulary, n: int, width: int, pool: int
) -> np.ndarray:
    """n records (n, 2 width): different keys of `width` ids among the first `pool` key ids, then
    values.
    """
    keys = np.stack(np.unravel_index(rng.permutation(pool**width)[:n], (pool,) * width), 1)
    return np.concatenate(
        [vocabulary.key(keys), vocabulary.value(rng.integers(vocabulary.values, size=(n, width)))],
        1,
    )


@dataclass(frozen=True)
class WideForm(Form):
    """width: tokens of a key and of a value; pool: key ids that keys are made of. Text stands in
    front where the length has room.
    """

    code: ClassVar[int] = 3

    width: int
    pool: int

    def records(self, length: int) -> int:
        return max(0, (length - 2 * self.width) // (2 * self.width))

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        if not 1 <= self.width <= WIDEST:
            raise UserError(f"{option}.width={self.width}: from 1 to {WIDEST} tokens")
        if not 2 <= self.pool <= vocabulary.keys or self.pool**self.width > MOST:
            raise UserError(
                f"{option}.pool={self.pool}: from 2 to "
                f"{min(vocabulary.keys, int(MOST ** (1 / self.width)))} key ids; there are "
                f"data.vocabulary.keys={vocabulary.keys}, and pool^width may be {MOST} at most"
            )
        if self.records(length) < 2:
            raise UserError(
                f"{option}.width={self.width}: {length} tokens hold no two records and a query; "
                f"give {6 * self.width} or more"
            )
        if self.records(length) > self.pool**self.width:
            raise UserError(
                f"{option}.pool={self.pool}: makes {self.pool**self.width} keys of {self.width} "
                f"tokens; {length} tokens hold {self.records(length)} records; raise it, or "
                "use "
                "shorter lengths"
            )

    def question(
        self,
        rng: np.random.Generator,
        vocabulary: Vocabulary,
        stream: np.ndarray,
        length: int,
        depth: float,
    ) -> OneQuestion:
        n, w = self.records(length), self.width
        index = round(depth * (n - 1))
        records = draw_records(rng, vocabulary, n, w, self.pool)
        text = windows(rng, stream, 1, length - 2 * w * (n + 1))[0]
        body = np.insert(records[1:], index, records[0], 0).ravel()
        return OneQuestion(
            np.concatenate([[vocabulary.bos], text, body, records[0, :-1]]),
            records[0, w:],
            records[:, w:],
            index,
            2 * w * (n - index),
        )

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        return (
            1 / self.records(length)
            + (1 - 1 / self.records(length)) / vocabulary.values**self.width
        )

    def chance(self, vocabulary: Vocabulary) -> float:
        return float(vocabulary.values) ** -self.width


@dataclass(frozen=True, kw_only=True)
class Wide(Graded):
    """size: sequences per step; weight: of their mean loss in the sum; width, pool: as in WideForm.

    Easy: a log-uniform number of records; hard: a uniform one, and a random amount of training text
    in front of half of the sequences, which puts records on every slot.
    """

    size: int = 64
    weight: float = 2.0
    width: int = 2
    pool: int = 16

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        WideForm(self.width, self.pool).check(option, vocabulary, length)

    def draw(
        self,
        rng: np.random.Generator,
        stream: np.ndarray,
        vocabulary: Vocabulary,
        length: int,
        difficulty: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        w = self.width
        every = counts(rng, self.size, 2, WideForm(w, self.pool).records(length), difficulty)
        sequences, scored = (
            np.empty((self.size, length + 1), np.int64),
            np.zeros((self.size, length + 1), bool),
        )
        for row, score, n in zip(sequences, scored, every, strict=True):
            records = draw_records(rng, vocabulary, n, w, self.pool)
            filler = (
                rng.integers(length - 2 * w * (n + 1) + 1) if rng.random() < difficulty / 2 else 0
            )
            asked = records[rng.integers(n, size=length)].ravel()
            head = [vocabulary.bos], windows(rng, stream, 1, filler)[0], records.ravel(), asked
            row[:] = np.concatenate(head)[: length + 1]
            score[:] = (np.arange(length + 1) - 1 - filler) % (2 * w) >= w
            score[: 1 + filler + 2 * w * n] = False
        return sequences, scored[:, 1:]
