"""Checksum of the questions that a model was asked: scores of two models are paired only where it
is the same.
"""

import zlib

import numpy as np


def checksum(*drawn: np.ndarray) -> int:
    """Returns the CRC-32 of arrays of whole numbers, the same on every machine."""
    return zlib.crc32(b"".join(np.ascontiguousarray(array, "<i8").tobytes() for array in drawn))
