"""Standard output and error that exist always and take every character."""

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO


def settle() -> None:
    """Replaces a closed stream (`extrap table demo >&-`): the next opened file would get its
    number. Also escapes characters that the encoding of a terminal lacks.
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
    """Drops all later standard output: its reader has gone, or its disk is full."""
    with open(os.devnull, "w", encoding="utf-8") as nothing, suppress(OSError, ValueError):
        os.dup2(nothing.fileno(), sys.stdout.fileno())  # a stream in memory has no number
