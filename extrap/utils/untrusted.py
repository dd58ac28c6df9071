"""Reads files that may come from anybody: nothing in them hangs, fills the memory or runs.

A pipe or a device is read for ever, a few hundred bytes of YAML can refer to themselves until they
stand for more values than any memory holds, JSON nested thousands deep ends the process in a
segmentation fault, and a few kilobytes of gzip can stand for terabytes.
"""

import gzip
import json
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from gzip import GzipFile
from pathlib import Path
from typing import IO, Any, cast

import yaml

from extrap.utils.errors import UserError

LARGEST = 2**20
"""Bytes of a file of configuration."""

VALUES = 100_000
"""Values of a YAML file when all its references are written out."""

DEEPEST = 100
"""Levels of nesting."""

FREE = 2**28
"""Bytes that any packed file may unpack to."""

RATIO = 200
"""Times its size that a larger packed file may unpack to; text shrinks to a tenth, a log to a
fiftieth.
"""

LONGEST = 2**26
"""Bytes of a line."""

CHUNK = 2**20
COPIES = 4
"""Copies of a document in memory: its bytes, its text, the text of the library, its tokens."""

SIGNS = bytes(1 if c in b"[{" else 255 for c in range(256))  # 255 is -1 of int8
DELETED = bytes(c for c in range(256) if c not in b"[]{}")
# Each quote is looked at once: what is open at the end of a line is taken as text, and nothing is
# given back (++, *+), which would be quadratic in a line of quotes that open nothing.
STRING = re.compile(rb'"(?:[^"\\]++|\\.?+)*+"?+', re.DOTALL)
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is not in every build
REFERENCE = re.compile(r"[*]\w")
MALFORMED = (yaml.YAMLError, ValueError, TypeError, RecursionError)


def read_text(path: Path, most: int = LARGEST) -> str:
    """Returns the UTF-8 text of a file. Raises UserError for a pipe, a device or a folder, for more
    than `most` bytes and for other bytes than text; FileNotFoundError for a missing file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise UserError(path, problem="not a file", remedy="put a file in its place")
        if about.st_size > most:
            raise UserError(path, problem=f"larger than {most // 2**20} MiB, the most for its kind")
        with open(handle, "rb", closefd=False) as file:
            content = file.read(most)
    finally:
        os.close(handle)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 ({error.reason} at byte {error.start})"
        raise UserError(path, problem=problem) from None


def read_json(path: Path, most: int = LARGEST) -> dict[str, Any]:
    """Returns the object in a JSON file. Raises UserError for any other content, and as
    `read_text`.
    """
    try:
        found = json.loads(read_text(path, most))
    except (ValueError, RecursionError) as error:
        raise UserError(path, problem=f"not JSON ({str(error)[:80]})") from None
    if not isinstance(found, dict):
        raise UserError(path, problem=f"expected a JSON object, got {type(found).__name__}")
    return found


def read_yaml(path: Path) -> Any:
    """Returns the plain values of a YAML file. Raises UserError for what is no YAML, and as
    `check_yaml`.
    """
    text = check_yaml(path)
    try:
        return yaml.load(text, Loader=LOADER)
    except MALFORMED as error:
        problem = f"no YAML ({str(error).splitlines()[0]})"
        raise UserError(path, problem=problem, remedy="mend the file") from None


def check_yaml(path: Path) -> str:
    """Returns the text of a YAML file. Raises UserError for a file that is nested too deep or
    refers to too much, and as `read_text`. A syntax error is left to the reader.
    """
    text = read_text(path)
    with suppress(yaml.YAMLError):
        _check_events(text, path)
    return text


def _check_events(text: str, path: Path) -> None:
    refers = REFERENCE.search(text) is not None
    if not refers and text.count("[") + text.count("{") + text.count("- ") < DEEPEST:
        return
    counts: list[int] = [0]
    anchors: list[str | None] = []
    known: dict[str, int] = {}
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.AliasEvent):
            itself = event.anchor in anchors  # it is written out without end
            counts[-1] += VALUES + 1 if itself else known.get(event.anchor, 1)
        elif isinstance(event, yaml.ScalarEvent):
            counts[-1] += 1
            if event.anchor:
                known[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            counts.append(1)
            anchors.append(event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            inside, anchor = counts.pop(), anchors.pop()
            counts[-1] += inside
            if anchor:
                known[anchor] = inside
        if len(counts) > DEEPEST:
            raise UserError(path, problem=f"nested deeper than {DEEPEST} levels")
        if counts[-1] > VALUES:
            problem = f"more than {VALUES:,} values when its references are written out"
            raise UserError(path, problem=problem)


def memory() -> int:
    """Returns the bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def is_packed(path: Path) -> bool:
    """True if the name of a file says that it is gzip, the one form that is unpacked."""
    return path.suffix.lower() == ".gz"


def opened(path: Path) -> IO[bytes]:
    """Opens a file; its bytes are unpacked if it is packed."""
    return cast(IO[bytes], gzip.open(path, "rb") if is_packed(path) else path.open("rb"))


def most(path: Path) -> int:
    """Returns how many bytes a packed file may unpack to."""
    return max(FREE, RATIO * path.stat().st_size)


def check_unpacked(file: IO[bytes] | GzipFile, path: Path, option: str) -> None:
    """Raises UserError if more than `most` bytes were read of an unpacked file so far.

    option: the option and its value, as in `data.corpus.path=a.gz`.
    """
    if file.tell() > most(path):
        problem = f"unpacks to more than {RATIO} times its size, as no text does"
        raise UserError(option, problem=problem, remedy="give it unpacked if it is text")


def check_nesting(path: Path, option: str) -> None:
    """Raises UserError, naming file and line, for JSON nested deeper than DEEPEST and for a line
    longer than LONGEST bytes.

    A parser with a limit of its own (orjson) reads one line or the whole file: it would miss what
    is nested over many lines, or hold gigabytes. Brackets are counted as the lines pass. Other
    faults are left to the reader.
    """
    depth = 0
    for number, line in enumerate(_parts(path, option, lambda file: file.readline(LONGEST + 1)), 1):
        if len(line) > LONGEST:
            problem = f"a line of more than {LONGEST // 2**20} MiB"
            raise UserError(option, f"{path}:{number}", problem, "give one record a line")
        deepest, depth = _depths(STRING.sub(b"", line), depth)
        if deepest > DEEPEST:
            problem = f"nested deeper than {DEEPEST} brackets"
            remedy = "give a JSON object with a column of text a line"
            raise UserError(option, f"{path}:{number}", problem, remedy)


def check_size(path: Path, option: str) -> None:
    """Raises UserError for a packed file that holds more than a text of its size does, and for a
    file that is read as a whole and finds no room in memory.
    """
    if is_packed(path):
        for _ in _parts(path, option, lambda file: file.read(CHUNK)):
            pass
    elif (size := path.stat().st_size) > memory() // COPIES:
        have = f"{memory() / 2**30:,.0f}"
        problem = f"{size / 2**30:,.0f} GiB in one document, and this machine has {have}"
        raise UserError(option, path, problem, "cut it into several files, or give jsonl")


def _depths(bare: bytes, depth: int) -> tuple[int, int]:
    """(the greatest depth within a line, the depth at its end), of a line without its strings."""
    import numpy as np  # the small commands read configurations, and start without it

    brackets = bare.translate(SIGNS, DELETED)
    deepest = depth
    for at in range(0, len(brackets), CHUNK):
        signs = np.frombuffer(brackets[at : at + CHUNK], np.int8)
        depths = depth + np.cumsum(signs, dtype=np.int64)
        deepest, depth = max(deepest, int(depths.max())), int(depths[-1])
    return deepest, max(depth, 0)


def _parts(path: Path, option: str, take: Callable[[IO[bytes]], bytes]) -> Iterator[bytes]:
    try:
        with opened(path) as file:
            while part := take(file):
                if is_packed(path):
                    check_unpacked(file, path, f"{option}={path}")
                yield part
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return
