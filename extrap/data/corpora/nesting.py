"""What a file of text may not be, looked at before the reading library does: JSON nested thousands
deep keeps it busy for ever or ends the process in a segmentation fault, which no time limit
catches, and gzip may hold more than any memory.

A parser with a limit of its own (orjson) reads one line or the whole file: it would miss what is
nested over many lines, or hold gigabytes. Brackets are counted as the lines pass.
"""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from extrap.utils import packed
from extrap.utils.errors import UserError

DEEPEST = 100
LONGEST = 2**26  # bytes of a line
CHUNK = 2**20
COPIES = 4  # of a document in memory: its bytes, its text, that of the library, its tokens
SIGNS = bytes(1 if c in b"[{" else 255 for c in range(256))  # 255 is -1 of int8
DELETED = bytes(c for c in range(256) if c not in b"[]{}")
# Each quote is looked at once: what is open at the end of a line is taken as text, and nothing is
# given back (++, *+), which would be quadratic in a line of quotes that open nothing.
STRING = re.compile(rb'"(?:[^"\\]++|\\.?+)*+"?+', re.DOTALL)


def check_nesting(path: Path) -> None:
    """Raises UserError, naming file and line, for JSON nested deeper than DEEPEST and for a line
    longer than LONGEST bytes.

    A file that is no JSON, or that cannot be unpacked, passes: its reader rejects it.
    """
    depth = 0
    for number, line in enumerate(_lines(path), 1):
        if len(line) > LONGEST:
            raise UserError(
                f"data.corpus.path={path}:{number}: a line of more than {LONGEST // 2**20} MiB; "
                "give one record a line"
            )
        deepest, depth = _depths(STRING.sub(b"", line), depth)
        if deepest > DEEPEST:
            raise UserError(
                f"data.corpus.path={path}:{number}: nested deeper than {DEEPEST} brackets; give a "
                "JSON object with a column of text a line"
            )


def check_size(path: Path) -> None:
    """Raises UserError for a packed file with more data than text of its size can have, and for a
    file that is read as a whole and does not fit into memory.
    """
    if packed.is_packed(path):
        for _ in _read(path, lambda file: file.read(CHUNK)):
            pass
    elif (size := path.stat().st_size) > packed.memory() // COPIES:
        raise UserError(
            f"data.corpus.path={path}: {size / 2**30:,.0f} GiB in one document, and this machine "
            f"has {packed.memory() / 2**30:,.0f}; cut it into several files, or give jsonl"
        )


def _depths(bare: bytes, depth: int) -> tuple[int, int]:
    """Returns the greatest depth in a line without strings, and the depth at its end."""
    brackets = bare.translate(SIGNS, DELETED)
    most = depth
    for at in range(0, len(brackets), CHUNK):
        signs = np.frombuffer(brackets[at : at + CHUNK], np.int8)
        depths = depth + np.cumsum(signs, dtype=np.int64)
        most, depth = max(most, int(depths.max())), int(depths[-1])
    return most, max(depth, 0)


def _lines(path: Path) -> Iterator[bytes]:
    return _read(path, lambda file: file.readline(LONGEST + 1))


def _read(path: Path, take) -> Iterator[bytes]:
    try:
        with packed.opened(path) as file:
            while part := take(file):
                if packed.is_packed(path):
                    packed.check_size(file, path, f"data.corpus.path={path}")
                yield part
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return
