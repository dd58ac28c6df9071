"""Which questions a model was asked, as a number: scores of two models are paired only where it is the same."""

import zlib

import numpy as np


def digest(*drawn: np.ndarray) -> int:
    """CRC-32 of arrays of whole numbers (tokens, answers), the same on every machine."""
    return zlib.crc32(b"".join(np.ascontiguousarray(array, "<i8").tobytes() for array in drawn))


class Placed:
    """Questions about one place of their contexts: index of the record among the records, distance in tokens to the last query."""

    tokens: np.ndarray
    answers: np.ndarray
    index: int
    distance: int

    @property
    def places(self) -> dict[str, int]:
        """What is the same in all of them, and which ones they are."""
        return {"index": self.index, "distance": self.distance, "drawn": digest(self.tokens, self.answers)}


def drawn(where: dict, *arrays: np.ndarray) -> dict:
    """The item that says what the scores of a protocol and length are about."""
    return where | {"metric": "drawn", "item": "all", "value": float(digest(*arrays))}
