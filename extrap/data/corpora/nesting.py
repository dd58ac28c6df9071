"""How deep and how long the JSON of a file is: what is nested thousands deep keeps the reading
library busy for ever or ends the process in a segmentation fault, which no time limit catches.

A parser with a limit of its own (orjson) reads one line or the whole file: it would miss what is
nested over many lines, or hold gigabytes. Brackets are counted as the lines pass.
"""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from extrap.utils.errors import UserError

DEEPEST = 100
LONGEST = 2**26  # bytes of a line
STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')  # ends in its line: JSON has no line ends within
OPEN, CLOSE = b"[{", b"]}"


def check_nesting(path: Path) -> None:
    """Raises UserError, naming file and line, for JSON nested deeper than DEEPEST and for a line
    longer than LONGEST bytes.

    What is no JSON at all, or cannot be unpacked, is left to whoever reads it.
    """
    depth = 0
    for number, line in enumerate(_lines(path), 1):
        if len(line) > LONGEST:
            raise UserError(
                f"data.corpus.path={path}:{number}: a line of more than {LONGEST // 2**20} MiB; "
                "give one record a line"
            )
        bare = STRING.sub(b"", line)
        deepest, depth = _depths(bare, depth)
        if deepest > DEEPEST:
            raise UserError(
                f"data.corpus.path={path}:{number}: nested deeper than {DEEPEST} brackets; give a "
                "JSON object with a column of text a line"
            )


def _depths(bare: bytes, depth: int) -> tuple[int, int]:
    """(an upper bound of the depth within a line, exact where it is high; the depth at its end)."""
    opened, closed = (sum(bare.count(bracket) for bracket in kind) for kind in (OPEN, CLOSE))
    most = depth + opened
    if most > DEEPEST:
        most = at = depth
        for byte in bare:
            at += (byte in OPEN) - (byte in CLOSE)
            most = max(most, at)
            if most > DEEPEST:
                break
    return most, max(depth + opened - closed, 0)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb") as file:
            while line := file.readline(LONGEST + 1):
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return
