"""How much a file may hold: a few kilobytes of gzip can stand for terabytes."""

import gzip
import os
from gzip import GzipFile
from pathlib import Path
from typing import IO, cast

from extrap.utils.errors import UserError

FREE = 2**28
"""Bytes that any file may unpack to."""

RATIO = 200
"""Times its size that a larger one may; text shrinks to a tenth, a log to a fiftieth."""


def memory() -> int:
    """Bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def is_packed(path: Path) -> bool:
    """Whether the name of a file says that it is gzip, the one form that is unpacked."""
    return path.suffix.lower() == ".gz"


def opened(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked where it is packed."""
    return cast(IO[bytes], gzip.open(path, "rb") if is_packed(path) else path.open("rb"))


def most(path: Path) -> int:
    """Bytes that a packed file may unpack to."""
    return max(FREE, RATIO * path.stat().st_size)


def check_size(file: IO[bytes] | GzipFile, path: Path, option: str) -> None:
    """Raises UserError where more than `most` was read of an unpacked file so far."""
    if file.tell() > most(path):
        raise UserError(
            f"{option}: unpacks to more than {RATIO} times its size, as no text does; give it "
            "unpacked if it is one"
        )
