"""From the text of a document to token ids: bytes by default, a Hugging Face tokenizer where one is chosen (tokenizer.py)."""

from typing import Protocol

import numpy as np


class Encoder(Protocol):
    """name: goes into the content hash of a token map; ids: all are below; dtype: of the map; sized: tokens differ in bytes."""

    name: str
    ids: int
    dtype: str
    sized: bool

    def __call__(self, text: bytes) -> tuple[np.ndarray, np.ndarray]:
        """(ids, bytes of text behind each), both (N,). The bytes of a document add up to those of its text."""


class Bytes:
    """One token per byte."""

    name, ids, dtype, sized = "one token per byte, uint16", 256, "<u2", False

    def __call__(self, text: bytes) -> tuple[np.ndarray, np.ndarray]:
        ids = np.frombuffer(text, np.uint8)
        return ids, np.ones(len(ids), np.uint8)


BYTES = Bytes()
