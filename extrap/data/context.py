"""What one sequence is drawn from: random numbers, ids, running text, a length."""

from dataclasses import dataclass, replace

import numpy as np

from extrap.data.vocabulary import Vocabulary


def among(text: np.ndarray, slots: np.ndarray, records: np.ndarray) -> np.ndarray:
    """Returns records (n, w) with their first tokens at these slots (n,), and text elsewhere."""
    row = np.empty(len(text) + records.size, np.int64)
    of_records = slots[:, None] + np.arange(records.shape[1])
    of_text = np.ones(len(row), bool)
    of_text[of_records] = False
    row[of_records] = records
    row[of_text] = text
    return row


def woven(text: np.ndarray, is_record: np.ndarray, records: np.ndarray) -> np.ndarray:
    """Returns records (n, w) and text in this order: is_record (N,) is True for a record, False for
    a token of text.
    """
    before = is_record.cumsum() - is_record
    slots = np.arange(len(is_record)) + (records.shape[1] - 1) * before
    return among(text, slots[is_record], records)


@dataclass(frozen=True)
class Context:
    """The material that a sequence is drawn from.

    Args:
        rng: the only source of randomness
        vocabulary: the ids
        stream: (N,) tokens of running text
        length: of the sequence in tokens

    Two contexts with equal generators draw the same.
    """

    rng: np.random.Generator
    vocabulary: Vocabulary
    stream: np.ndarray
    length: int

    def shorter(self, tokens: int) -> "Context":
        """Returns the same context with so many tokens less."""
        return replace(self, length=self.length - tokens)

    def sequence(self, *parts: np.ndarray) -> np.ndarray:
        """Returns BOS, then these tokens."""
        return np.concatenate([[self.vocabulary.bos], *parts])

    def text(self, tokens: int) -> np.ndarray:
        """Draws a stretch of running text, (tokens,)."""
        return self.texts(1, tokens)[0]

    def texts(self, count: int, tokens: int) -> np.ndarray:
        """Draws `count` stretches of running text from random places, (count, tokens) int64."""
        starts = self.rng.integers(len(self.stream) - tokens + 1, size=count)
        places = starts[:, None] + np.arange(tokens)
        return self.stream[places].astype(np.int64)

    def keys(self, count: int) -> np.ndarray:
        """Draws `count` different key ids."""
        order = self.rng.permutation(self.vocabulary.keys)
        return self.vocabulary.key(order[:count])

    def values(self, *shape: int) -> np.ndarray:
        """Draws value ids, any of them several times."""
        drawn = self.rng.integers(self.vocabulary.values, size=shape)
        return self.vocabulary.value(drawn)

    def distinct_values(self, rows: int, each: int) -> np.ndarray:
        """Draws `each` different value ids for every row, (rows, each)."""
        order = self.rng.random((rows, self.vocabulary.values)).argsort(1)
        return self.vocabulary.value(order[:, :each])
