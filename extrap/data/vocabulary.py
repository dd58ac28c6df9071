"""The token ids: 256 bytes of text, a begin-of-sequence id (BOS), then keys and values."""

from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from extrap.data.encoder import BYTES, Encoder
from extrap.data.turns import Turns
from extrap.utils.bounds import Several, at_least

Ids = TypeVar("Ids", int, np.ndarray)


@dataclass(frozen=True)
class RecordLayout:
    """The tokens of a record and of a query: `k v` and `k` in ids of our own, `k : v \n` and `k :`
    in the words of a tokenizer.

    Args:
        between: ids from a key to its value
        behind: ids after a value
    """

    between: tuple[int, ...] = ()
    behind: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """Returns the tokens of a record."""
        return 2 + len(self.between) + len(self.behind)

    @property
    def query_width(self) -> int:
        """Returns the tokens of a query."""
        return 1 + len(self.between)

    def most(self, length: int) -> int:
        """Returns how many records `length` tokens hold next to BOS and a query."""
        return (length - 1 - self.query_width) // self.width

    def records(self, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Returns records (..., width) of keys (...) and values (...)."""
        front = self.queries(keys)
        behind = np.tile(np.array(self.behind, np.int64), (*keys.shape, 1))
        return np.concatenate([front, values[..., None], behind], -1)

    def queries(self, keys: np.ndarray) -> np.ndarray:
        """Returns queries (..., query_width) of keys (...)."""
        between = np.tile(np.array(self.between, np.int64), (*keys.shape, 1))
        return np.concatenate([keys[..., None], between], -1)


@dataclass(frozen=True)
class Vocabulary:
    """The vocabulary of bytes: 0 ... 255 bytes | 256 BOS | `keys` key ids | `values` value ids.

    Args:
        keys: number of key ids
        values: number of value ids

    Keys and values never occur in text, so that a retrieval answer cannot be guessed from the
    language, and every value is right by chance with 1 / values.
    """

    keys: Several = 256
    values: Several = 64
    text: ClassVar[int] = 256
    layout: ClassVar[RecordLayout] = RecordLayout()

    @property
    def encoder(self) -> Encoder:
        """Returns the encoder of text."""
        return BYTES

    @property
    def words(self) -> "Vocabulary":
        """Returns the vocabulary of tasks whose keys and values may be words of a tokenizer."""
        return self

    @property
    def bos(self) -> int:
        return self.text

    @property
    def turns(self) -> Turns:
        """Returns the turns around the text of a task: BOS alone."""
        return Turns((self.bos,))

    @property
    def size(self) -> int:
        return self.text + 1 + self.keys + self.values

    @property
    def key_ids(self) -> range:
        return range(self.bos + 1, self.bos + 1 + self.keys)

    @property
    def value_ids(self) -> range:
        return range(self.key_ids.stop, self.size)

    def check_keys(self, needed: int, why: str) -> None:
        """Raises UserError for fewer keys than needed; why: what needs them."""
        at_least("data.vocabulary.keys", self.keys, needed, why)

    def key(self, i: Ids) -> Ids:
        """Returns the id of key i, or of every key of an array."""
        return self.key_ids.start + i

    def value(self, i: Ids) -> Ids:
        """Returns the id of value i, or of every value of an array."""
        return self.value_ids.start + i
