"""Readers of local text, JSON, parquet and data sets of the hub; signs that files changed."""

import re
import shutil
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from glob import escape
from io import TextIOWrapper
from json import loads
from pathlib import Path
from typing import Any

from extrap.utils.errors import UserError
from extrap.utils.untrusted import CHUNK, check_size, is_packed, lines, opened, read_json

TABLES = {".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet",
          ".arrow": "arrow"}  # fmt: skip
PATH = "data.corpus.path"
STATE = "state.json"
SPLITS = "dataset_dict.json"
SAVED = (STATE, "dataset_info.json", SPLITS)
"""Files of `save_to_disk` that are no text."""
UTF8 = "utf-8-sig"  # a mark of the byte order at the head of a file is no text
BROKEN = (OSError, EOFError, ValueError, RecursionError, zlib.error)
"""Errors of unpacking, decoding and parsing."""
PACKED = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh91AY&SY": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf": "7z",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x1f\x8b": "gzip",
}
"""Programs that pack files, by the first bytes of their files."""
TAR = (b"ustar\x0000", b"ustar  \0")  # at byte 257: of POSIX, of GNU
NAMES = {b"ARROW1\0\0": ".arrow", b"PAR1\x15": ".parquet"}
"""Ends of the names of tables, by the first bytes of their files."""
MARKS = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""Encodings by their marks of the byte order; the longer ones first."""
WIDE: dict[tuple[bool, ...], str] = {
    (False, True, False, True): "utf-16le",
    (True, False, True, False): "utf-16be",
    (False, True, True, True): "utf-32le",
    (True, True, True, False): "utf-32be",
}
"""Encodings by the bytes of four that are NUL in English."""
CONVERT = "convert it, as in iconv -f {} -t utf-8, or choose files with a pattern"
HEAD = 2**16
FEW = 8
"""Bytes of a file that show its form, and NULs that any text may hold."""
ROWS = 1000
"""Rows of parquet in memory."""
SETTLED = 2.0  # seconds; the coarsest file times in use


@contextmanager
def streamed(kind: str, **options: Any) -> Iterator:
    """Returns a data set as a stream of rows (dicts), without cached copy, progress bars or log.

    kind: parquet, arrow, or the name of a set on the hub. A set names its own files, and a row
    none: the stream opens no path and no address that stands in it.
    """
    # takes a second to import, which a corpus that is already mapped need not wait for
    import datasets

    bars = not datasets.are_progress_bars_disabled()
    level = datasets.logging.get_verbosity()
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)
    # Even a stream leaves a lock file in its cache folder, which lies in the home folder unless
    # told otherwise. No TemporaryDirectory: it warns where a stream is dropped before its end.
    cache = tempfile.mkdtemp(prefix="extrap-datasets-")
    try:
        with nullcontext() if kind in ("parquet", "arrow") else _own_files(kind):
            found = datasets.load_dataset(kind, streaming=True, cache_dir=cache, **options)
        references = datasets.features.features.require_decoding(found.features or {})
        yield found.decode(False) if references else found  # of images and sounds
    finally:
        shutil.rmtree(cache, ignore_errors=True)
        datasets.logging.set_verbosity(level)
        if bars:
            datasets.enable_progress_bars()


@contextmanager
def _own_files(name: str) -> Iterator[None]:
    """Inside, a set of the hub that lists files outside itself raises ValueError: a path of this
    machine, or the address of another one.
    """
    from datasets import config, data_files

    resolve, hub = data_files.resolve_pattern, config.HF_ENDPOINT

    def resolved(pattern: str, *more: Any, **options: Any) -> Any:
        rest = pattern.removeprefix(f"hf://datasets/{name}@")
        rest = rest.removeprefix(f"{hub}/datasets/{name}/resolve/")  # the hub's own copy in parquet
        foreign = rest.startswith("/") or "::" in rest or "://" in rest
        if foreign or ".." in rest.split("/"):
            raise ValueError(f"lists a file that is not its own, {pattern:.80}")
        return resolve(pattern, *more, **options)

    data_files.resolve_pattern = resolved
    try:
        yield
    finally:
        data_files.resolve_pattern = resolve


def kind(path: Path) -> str:
    """Returns text, json or parquet, by the end of a file's name."""
    suffix = Path(path.stem).suffix if is_packed(path) else path.suffix
    return TABLES.get(suffix.lower(), "text")


def saved(paths: Sequence[Path]) -> list[Path]:
    """Returns the paths that hold text. A folder of `save_to_disk` lists its files in its state;
    files that `map` and earlier savings left there are left out. Raises UserError for a damaged
    state, and for several splits, which would be one text.
    """
    if all(kind(path) != "arrow" for path in paths):
        return [*paths]
    for folder in (path.parent for path in paths if path.name == SPLITS):
        splits = sorted(p.parent.name for p in paths if p == folder / p.parent.name / STATE)
        if len(splits) > 1:
            problem = f"holds the splits {', '.join(splits)}, which would be read as one text"
            first = "train" if "train" in splits else splits[0]
            raise UserError(PATH, folder, problem, f"give {PATH}={folder / first}")
    folders = {path.parent for path in paths}
    listed = {folder: _listed(folder) for folder in folders}
    kept = list[Path]()
    for path in paths:
        names = listed[path.parent]
        stale = names is not None and kind(path) == "arrow" and path.name not in names
        if path.name not in SAVED and not stale:
            kept.append(path)
    return kept


def _listed(folder: Path) -> set[str] | None:
    """Returns the names of the files of a saved set; None for another folder."""
    if not (folder / STATE).is_file():
        return None
    files = read_json(folder / STATE).get("_data_files")
    if not isinstance(files, list):
        return None
    return {str(file.get("filename")) for file in files if isinstance(file, dict)}


def text(path: Path) -> str:
    """Returns the UTF-8 text of a file, line ends as \\n. Raises UserError for other bytes."""
    check_size(path, PATH)
    _check_form(path)
    try:
        with TextIOWrapper(opened(path), encoding=UTF8) as file:
            return file.read()
    except BROKEN as error:
        raise unreadable(path, "text", error) from None


def text_blocks(path: Path) -> Iterator[bytes]:
    """Yields the blocks of a long text, of which memory holds one. Errors as in `text`."""
    if is_packed(path):
        check_size(path, PATH)
    _check_form(path)
    try:
        with TextIOWrapper(opened(path), encoding=UTF8) as file:
            while block := file.read(CHUNK):
                yield block.encode()
    except BROKEN as error:
        raise unreadable(path, "text", error) from None


def records(path: Path) -> Iterator[tuple[str, Any]]:
    """Yields (place, record) of every row of a table. Raises UserError, naming the place, for any
    other content.
    """
    if kind(path) == "json":
        yield from json_rows(path)
        return
    options: dict[str, Any] = {"data_files": [escape(str(path.absolute()))], "split": "train"}
    if kind(path) == "parquet":
        options["batch_size"] = ROWS  # else the rows of the first group, of which there may be none
    try:
        with streamed(kind(path), **options) as found:
            yield from ((f"{path}:{i}", row) for i, row in enumerate(found, 1))
    except Exception as error:  # unpacking, decoding and typing each have their own
        raise unreadable(path, kind(path), error) from None


def json_rows(path: Path, option: str = PATH) -> Iterator[tuple[str, Any]]:
    """Yields (path:line, record) of a file with a JSON value a line, or (path:place, record) of a
    file that is one list. option: for messages.

    extrap does not use `datasets` here: it derives the types of all columns from the first 10 MB,
    and then rewrites or rejects later values of another type.
    """
    number, first = 1, True
    try:
        for number, line in enumerate(rest := lines(path, option, UTF8), 1):
            if first and line.lstrip().startswith("["):
                check_size(path, option)  # it is held whole
                rows = enumerate(_parsed(line + "".join(rest)), 1)
                yield from ((f"{path}:{i}", row) for i, row in rows)
                return
            if line.strip():
                yield f"{path}:{number}", _parsed(line)
                first = False
    except BROKEN as error:
        raise unreadable(f"{path}:{number}", "json", error, option) from None


def _parsed(found: str) -> Any:
    return loads(found, strict=False, parse_int=float)  # of any number of digits


def unreadable(place: object, kind: str, error: Exception, option: str = PATH) -> UserError:
    path = Path(re.sub(r":\d+$", "", str(place)))
    if (form := _form(path, place, option)) is not None:
        return form
    if isinstance(error, UnicodeDecodeError):
        head = _head(path)
        known = next((name for mark, name in MARKS.items() if head.startswith(mark)), "latin1")
        problem = f"not UTF-8 (byte 0x{error.object[error.start]:02x}: {error.reason})"
        return UserError(option, place, problem, CONVERT.format(known))
    advice = "choose files with a pattern such as 'folder/**/*.txt'"
    if kind == "json":
        advice = "give a JSON object a line, or one list of them"
    return UserError(option, place, f"extrap cannot read this as {kind} ({line(error)})", advice)


def _check_form(path: Path) -> None:
    """Raises UserError for a file that is no UTF-8 text, though its bytes may be valid UTF-8."""
    if (form := _form(path, path, PATH)) is not None:
        raise form


def _form(path: Path, place: object, option: str) -> UserError | None:
    """Returns what to do with a packed file, an archive, a table under another name, or a text
    with a NUL beside each letter; None for any other file.
    """
    head = _head(path)
    program = next((name for magic, name in PACKED.items() if head.startswith(magic)), None)
    if head[257:265] in TAR:
        program = "tar"
    if program is not None:
        problem = f"packed by {program}; extrap unpacks .gz alone"
        renamed = program == "gzip" and path.suffix.lower() not in (".gz", ".tgz")
        remedy = "give it a name that ends in .gz" if renamed else "unpack it"
        return UserError(option, place, problem, remedy)
    if kind(path) in ("parquet", "arrow"):
        return None
    if end := next((end for magic, end in NAMES.items() if head.startswith(magic)), None):
        problem = "a table under the name of a text"
        return UserError(option, place, problem, f"give it a name that ends in {end}")
    marked = any(head.startswith(mark) for mark in MARKS)
    if marked or not _many(head) or head.count(0) <= FEW:
        return None
    if (known := WIDE.get(tuple(_many(head[i::4]) for i in range(4)))) is None:
        problem = "more than a fifth of its bytes are NUL, as in no text"
        return UserError(option, place, problem, "choose files with a pattern")
    problem = f"{known[:6].upper()} without a mark of the byte order"
    return UserError(option, place, problem, CONVERT.format(known))


def _many(found: bytes) -> bool:
    """True if more than a fifth of the bytes are NUL."""
    return 5 * found.count(0) > len(found)


def _head(path: Path) -> bytes:
    """Returns the first bytes of a file, unpacked; no bytes if it is no file or damaged."""
    if path.is_file():
        with suppress(*BROKEN), opened(path) as file:
            return file.read(HEAD)
    return b""


def line(error: BaseException) -> str:
    """Returns the first line of an exception's text."""
    words = str(error).strip() or type(error).__name__
    return words.splitlines()[0].rstrip(".")


def stamps(paths: Sequence[Path]) -> list | None:
    """Returns path, size, times and inode of every file; None while a file is so new that another
    change could leave them equal.
    """
    found = [(str(path.absolute()), path.stat()) for path in paths]
    if any(max(s.st_mtime, s.st_ctime) > time.time() - SETTLED for _, s in found):
        return None
    return [[path, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino] for path, s in found]
