"""Key-value retrieval as training data: records `k v`, then queries `k` that are answered with `v`.

    BOS  [filler and n records k v, every key once]  k v  k v  k v ...     keys asked again; only the v after them are scored

Records are adjacent pairs and every answer of a sequence is scored, which is what lets a tiny model learn it in minutes (the
multi-query recall of arXiv 2312.04927). One sequence of 32 tokens, 5 records scattered in text, `_` a blank:

    <bos> k216 v7 _ q u i k118 v26 c k10 v18 k _ k104 v47 k78 v55 k104 v47 k216 v7 k78 v55 k104 v47 k104 v47 k104 v47 k104 v47
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from extrap.data.part import Part
from extrap.data.text import windows
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError

# Which record a query asks: Beta(a, b) over depth, 0 the first record, 1 the last.
DEPTHS = {"uniform": (1.0, 1.0), "ends": (0.3, 0.3), "recency": (3.0, 1.0)}
FEWEST = 2


def most(length: int) -> int:
    """The most records a sequence of `length` tokens holds next to BOS and one query key."""
    return length // 2 - 1


def check_keys(vocabulary: Vocabulary, records: int, length: int) -> None:
    """Raises UserError when `records` of a sequence of `length` tokens cannot have a key each."""
    if records > vocabulary.keys:
        raise UserError(
            f"data.vocabulary.keys={vocabulary.keys}: {records} records in {length} tokens need a key each; "
            f"raise data.vocabulary.keys to {records} or more, or use shorter lengths"
        )


@dataclass(frozen=True, kw_only=True)
class KeyValue(Part):
    """Training sequences of key-value retrieval.

    size: sequences per step; weight: of their mean loss in the sum.
    depth: which record a query asks, Beta-distributed over the records: uniform, ends (Beta(.3, .3)), recency (Beta(3, 1)).
    log_uniform_until, uniform_from: shares of training. Until the first, training is easy; from the second on it is as it will be
    asked; between, sequences of both kinds are mixed linearly. Easy: a log-uniform number of records in [2, most(length)] and no
    filler, since few records in a row are what the circuit is learned from. Late: a uniform number, since late slots would go
    untrained, and filler:
    prefix, scattered: shares of the sequences with a random amount of training text before the records, or in the gaps before,
    between and after them. They put records and answers on every slot, odd and even, so that the first record is no special case
    and filler is known from training.

    Raises ValueError for shares that do not add up or an unknown depth.
    """

    size: int = 64
    weight: float = 2.0
    depth: Literal["uniform", "ends", "recency"] = "uniform"
    log_uniform_until: float = 0.6
    uniform_from: float = 0.75
    prefix: float = 0.25
    scattered: float = 0.25

    def __post_init__(self) -> None:
        if self.depth not in DEPTHS:
            raise ValueError(f"depth={self.depth}: one of {', '.join(DEPTHS)}")
        if not 0 <= self.log_uniform_until < self.uniform_from:
            raise ValueError(f"log_uniform_until={self.log_uniform_until}: between 0 and uniform_from={self.uniform_from}")
        if min(self.prefix, self.scattered) < 0 or self.prefix + self.scattered > 1:
            raise ValueError(f"prefix={self.prefix}, scattered={self.scattered}: shares of the sequences, together at most 1")

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        check_keys(vocabulary, most(length), length)

    def draw(
        self, rng: np.random.Generator, stream: np.ndarray, vocabulary: Vocabulary, length: int, progress: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sequences (size, length + 1) int64 and which of their tokens 1 ... length are answers; progress: share of training done."""
        pairs = self.pairs(rng, length, progress)
        filler, scattered = self._filler(rng, length - 2 - 2 * pairs, progress)
        keys = vocabulary.key(rng.random((self.size, vocabulary.keys)).argsort(1)[:, : most(length)])
        values = vocabulary.value(rng.integers(vocabulary.values, size=keys.shape))
        sequence = np.empty((self.size, length + 3), np.int64)  # room for a last query that is cut off
        sequence[:, 0] = vocabulary.bos
        self._place(rng, sequence, pairs, filler, scattered, keys, values, windows(rng, stream, self.size, length))
        answers = self._ask(rng, sequence, 1 + filler + 2 * pairs, pairs, keys, values)
        return sequence[:, : length + 1], answers[:, 1 : length + 1]

    def pairs(self, rng: np.random.Generator, length: int, progress: float) -> np.ndarray:
        """Number of records of every sequence, (size,)."""
        top = most(length) + 1
        late = self._late(progress)
        low = np.exp(rng.uniform(np.log(FEWEST), np.log(top), self.size)).astype(np.int64)
        return np.where(rng.random(self.size) < late, rng.integers(FEWEST, top, self.size), np.clip(low, FEWEST, top - 1))

    def _late(self, progress: float) -> float:
        """0 while training is easy, 1 from `uniform_from` on, linear between."""
        return float(np.clip((progress - self.log_uniform_until) / (self.uniform_from - self.log_uniform_until), 0, 1))

    def _filler(self, rng: np.random.Generator, room: np.ndarray, progress: float) -> tuple[np.ndarray, np.ndarray]:
        """Filler tokens of every sequence, up to its room, and whether they are scattered; (size,) each."""
        form, late = rng.random(self.size), self._late(progress)
        filler = np.where(form < late * (self.prefix + self.scattered), rng.integers(room + 1), 0)
        return filler, form < late * self.scattered

    @staticmethod
    def _place(rng, sequence, pairs, filler, scattered, keys, values, text) -> None:
        """Writes filler and records in: units of width 1 and 2, filler first or in a random order, each kind in its own order."""
        at = np.arange(sequence.shape[1] - 3)
        used, is_filler = at < (filler + pairs)[:, None], at < filler[:, None]
        order = np.where(used & scattered[:, None], rng.random(used.shape), 1.0 + at).argsort(1)
        is_filler = np.take_along_axis(is_filler, order, 1) & used
        is_record = used & ~is_filler
        width = is_filler + 2 * is_record
        slot = 1 + width.cumsum(1) - width
        row, unit = np.nonzero(is_filler)
        sequence[row, slot[row, unit]] = text[at < filler[:, None]]
        row, unit = np.nonzero(is_record)
        first = np.arange(keys.shape[1]) < pairs[:, None]
        sequence[row, slot[row, unit]], sequence[row, slot[row, unit] + 1] = keys[first], values[first]

    def _ask(self, rng, sequence, start, pairs, keys, values) -> np.ndarray:
        """Fills the slots from `start` on with queries and their answers; returns where the answers are."""
        width = sequence.shape[1]
        asked = (rng.beta(*DEPTHS[self.depth], (len(sequence), width // 2)) * pairs[:, None]).astype(np.int64)
        asked = np.minimum(asked, pairs[:, None] - 1)  # a draw of exactly 1
        key = start[:, None] + 2 * np.arange(width // 2)
        row, query = np.nonzero(key < width - 1)
        record, slot = asked[row, query], key[row, query]
        sequence[row, slot], sequence[row, slot + 1] = keys[row, record], values[row, record]
        answers = np.zeros(sequence.shape, bool)
        answers[row, slot + 1] = True
        return answers
