"""Reads files that may come from anybody: nothing in them hangs, fills the memory or runs.

Reading a pipe or a device never ends, a few hundred bytes of YAML can refer to themselves until
they stand for more values than any memory holds, and a few kilobytes of gzip for terabytes.
"""

import gzip
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import TextIOWrapper
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

import yaml

from extrap.utils.errors import UserError

LARGEST = 2**20
"""Bytes of a file of configuration."""

TABLE = 2**28
"""Bytes of a file of rows or items, and of a tokenizer.json."""

PAGE = 2**24
"""Bytes of a page of text in results/."""

VALUES = 100_000
"""Values of a YAML file when all its references are written out."""

DEEPEST = 100
"""Levels of nesting."""

FREE = 2**28
"""Bytes that any packed file may unpack to."""

RATIO = 200
"""Times its size that a larger packed file may unpack to; a log shrinks to a fiftieth."""

LONGEST = 2**26
"""Characters of a line."""

CHUNK = 2**20
COPIES = 4
"""Copies of a document in memory: its bytes, its text, the text of the library, its tokens."""

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is not in every build
REFERENCE = re.compile(r"[*]\w")
BEGUN = re.compile("simple key|quoted scalar|flow (sequence|mapping)")
"""What a parser reads on to a later line before it notices that the end is missing."""
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
        small = 0 < about.st_size < CHUNK  # most files are: one call of the system
        content = os.read(handle, about.st_size + 1) if small else b""
        if not small or len(content) != about.st_size:
            with open(handle, "rb", closefd=False) as file:
                content += file.read(most)
    finally:
        os.close(handle)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 ({error.reason} at byte {error.start})"
        raise UserError(path, problem=problem) from None


def read_json(path: Path, most: int = LARGEST) -> dict[str, Any]:
    """Returns the object in a JSON file. Raises UserError for other content, as `read_text`."""
    try:
        found = json.loads(read_text(path, most))
    except (ValueError, RecursionError) as error:
        raise UserError(path, problem=f"not JSON ({str(error)[:80]})") from None
    if not isinstance(found, dict):
        raise UserError(path, problem=f"expected a JSON object, got {type(found).__name__}")
    return found


def read_yaml(path: Path) -> Any:
    """Returns the plain values of a YAML file. Raises UserError as `check_yaml`."""
    text = check_yaml(path)
    try:
        return yaml.load(text, Loader=LOADER)
    except MALFORMED as error:
        raise malformed(error, path, text) from None


def malformed(error: BaseException, path: Path, text: str) -> UserError:
    """Returns the line about a file whose text is not YAML, with the line of the text to look at if
    the error names one.
    """
    problem = f"no YAML ({str(error).splitlines()[0]})"
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        begun = error.context_mark if BEGUN.search(error.context or "") else None
        line = min((begun or error.problem_mark).line + 1, len(text.splitlines()))
        problem = f"line {line} is not YAML: {error.problem}"
    return UserError(path, problem=problem, remedy="mend the file")


def check_yaml(path: Path) -> str:
    """Returns the text of a YAML file. Raises UserError for a file that is nested too deep or
    refers to too much, for a link to no file, and as `read_text`. A syntax error is left to the
    reader.
    """
    if path.is_symlink() and not path.exists():
        raise UserError(path, problem="a link to a file that is not there")
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


LARGER = "larger than the memory of this machine"


def fits_memory(path: Path) -> bool:
    """True if a file, such as weights, is smaller than the memory of this machine."""
    return path.stat().st_size < memory()


def is_packed(path: Path) -> bool:
    """True if the name of a file says that it is gzip, the one form that is unpacked."""
    return path.suffix.lower() == ".gz"


def opened(path: Path) -> IO[bytes]:
    """Opens a file; its bytes are unpacked if it is packed."""
    return cast(IO[bytes], gzip.open(path, "rb") if is_packed(path) else path.open("rb"))


def check_unpacked(file: IO[bytes], path: Path, option: str) -> None:
    """Raises UserError if `file`, unpacked from a path, has given more bytes than a text does."""
    if file.tell() > max(FREE, RATIO * path.stat().st_size):
        problem = f"unpacks to more than {RATIO} times its size, as no text does"
        raise UserError(option, path, problem, "give it unpacked if it is text")


def lines(path: Path, option: str, encoding: str) -> Iterator[str]:
    """Yields the lines of a text file, unpacked. Raises UserError, naming file and line, for a line
    longer than LONGEST characters, and as `check_unpacked`.
    """
    with TextIOWrapper(opened(path), encoding=encoding) as text:
        for number in count(1):
            line = text.readline(LONGEST + 1)
            if is_packed(path):
                check_unpacked(text.buffer, path, option)
            if len(line) > LONGEST:
                problem = f"a line of more than {LONGEST // 2**20} MiB"
                raise UserError(option, f"{path}:{number}", problem, "give one record a line")
            if not line:
                return
            yield line


def check_size(path: Path, option: str) -> None:
    """Raises UserError for a packed file that holds more than a text of its size does, and for a
    file without room in memory, as extrap reads it whole.
    """
    if is_packed(path):
        with suppress(EOFError, zlib.error, gzip.BadGzipFile), opened(path) as file:
            while file.read(CHUNK):
                check_unpacked(file, path, option)
    elif (size := path.stat().st_size) > memory() // COPIES:
        have = f"{memory() / 2**30:,.0f}"
        problem = f"{size / 2**30:,.0f} GiB in one document, and this machine has {have}"
        raise UserError(option, path, problem, "cut it into several files, or give jsonl")
