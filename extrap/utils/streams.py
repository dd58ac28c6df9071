"""Standard output and error that are always there, and that every character fits into."""

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO


def settle() -> None:
    """Puts a stream that leads nowhere in place of a closed one (`extrap table demo >&-`): the next
    file that is opened would get its number. What the encoding of a terminal lacks is written as
    Python escapes it.
    """
    sys.stdout = _open(sys.stdout)
    sys.stderr = _open(sys.stderr)


def _open(stream: TextIO | None) -> TextIO:
    if stream is None or stream.closed:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def silence() -> None:
    """Nothing more is written to standard output, not even by Python at its end: its reader has
    gone, or its disk is full.
    """
    with open(os.devnull, "w", encoding="utf-8") as nothing, suppress(OSError, ValueError):
        os.dup2(nothing.fileno(), sys.stdout.fileno())  # a stream in memory has no number
