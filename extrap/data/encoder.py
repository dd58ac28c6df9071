"""From text to token ids: bytes by default, or a Hugging Face tokenizer (tokenizer.py)."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np


class Encoder(Protocol):
    """An encoder of text.

    Args:
        name: part of the content hash of a token map
        ids: upper bound of the ids
        dtype: of the map
        sized: whether tokens differ in bytes
        special: ids of no text: BOS, the end of a text or of a turn
    """

    name: str
    ids: int
    dtype: str
    sized: bool

    @property
    def special(self) -> frozenset[int]: ...

    def __call__(self, text: bytes) -> tuple[np.ndarray, np.ndarray]:
        """Returns ids and the bytes of text behind each, both (N,). The bytes of a document add up
        to the bytes of its text.
        """
        ...

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the text of ids; an id without text, such as BOS, becomes a line break."""
        ...


class Bytes:
    """One token per byte."""

    name, ids, dtype, sized = "one token per byte, uint16", 256, "<u2", False
    special = frozenset[int]()

    def __call__(self, text: bytes) -> tuple[np.ndarray, np.ndarray]:
        ids = np.frombuffer(text, np.uint8)
        return ids, np.ones(len(ids), np.uint8)

    def decode(self, ids: Iterable[int]) -> str:
        return bytes(i if i < self.ids else ord("\n") for i in ids).decode(errors="replace")


BYTES = Bytes()


def ids_behind(encoder: Encoder, before: str, text: str) -> np.ndarray:
    """Returns the ids (N,) int64 of a text that stands behind another one: tokenizers of
    SentencePiece put a space in front of whatever they are given, and so in front of a piece. A
    piece whose tokens merge with those before it is encoded apart.
    """
    front, _ = encoder(before.encode())
    whole, _ = encoder((before + text).encode())
    n = len(front)
    if not np.array_equal(whole[:n], front):
        whole, n = encoder(text.encode())[0], 0
    return whole[n:].astype(np.int64)
