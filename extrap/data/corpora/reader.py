"""Rows of text, from local files or through `datasets` from the hub, and what tells that local files have changed."""

import gzip
import io
import json
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from extrap.errors import UserError

SETTLED = 2.0  # seconds; the coarsest file times in use


@contextmanager
def streamed(kind: str, **options: Any) -> Iterator:
    """A data set as a stream of rows (dicts): no copy in the cache of `datasets`, no progress bars, no log lines."""
    import datasets  # takes a second to import, which a corpus that is already mapped need not wait for

    bars, level = not datasets.are_progress_bars_disabled(), datasets.logging.get_verbosity()
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)
    try:
        # Even a stream leaves a lock file in its cache folder, which lies in the home folder unless told otherwise.
        with tempfile.TemporaryDirectory(prefix="extrap-datasets-") as cache:
            yield datasets.load_dataset(kind, streaming=True, cache_dir=cache, **options)
    finally:
        datasets.logging.set_verbosity(level)
        if bars:
            datasets.enable_progress_bars()


def rows(kind: str, path: Path, column: str) -> Iterator[dict]:
    """Rows of a local file of kind json (an object a line, or one list of them) or parquet, of the latter `column` alone if it is there.

    Raises UserError naming a file that is not of that kind.
    """
    with _readable(kind, path), _opened(path) as file:
        yield from (_json if kind == "json" else _parquet)(file, column)


def text(path: Path) -> str:
    """The whole UTF-8 text of a file, line ends as \n. Raises UserError naming a file that is none."""
    with _readable("text", path), _opened(path) as file:
        return io.TextIOWrapper(file, encoding="utf-8").read()


def _opened(path: Path) -> Any:
    return gzip.open(path) if path.suffix == ".gz" else open(path, "rb")


def _json(file: BinaryIO, column: str) -> Iterator[dict]:
    """Not by `datasets`: what is nested a few thousand times over keeps the reader below it busy for minutes or ends the process."""
    lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n")
    first = next((line for line in lines if line.strip()), "")
    whole = first.lstrip().startswith("[")
    for row in json.loads(first + lines.read()) if whole else _objects(chain([first], lines)):
        if not isinstance(row, dict):
            raise ValueError(f"{row!s:.20} where an object with columns belongs")
        yield row


def _objects(lines: Iterable[str]) -> Iterator[Any]:
    return (json.loads(line) for line in lines if line.strip())


def _parquet(file: BinaryIO, column: str) -> Iterator[dict]:
    from pyarrow.parquet import ParquetFile

    table = ParquetFile(file)
    columns = [column] if column in table.schema_arrow.names else None
    for batch in table.iter_batches(256, columns=columns):
        yield from batch.to_pylist()


@contextmanager
def _readable(kind: str, path: Path) -> Iterator[None]:
    """Raises UserError in place of what a damaged file raises: of which kind that is depends on where it is damaged."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"data.corpus.path={path}: not readable as {kind} ({line(error)}); choose files with a pattern such as 'folder/**/*.txt'"
        ) from None


def line(error: Exception) -> str:
    """The first line of what an exception says."""
    return f"{(str(error).strip() or type(error).__name__).splitlines()[0].rstrip('.'):.200}"


def stamps(paths: Sequence[Path]) -> list | None:
    """Path, size, times and inode of every file; None while one is so new that a further change could leave them as they are."""
    found = [(str(path.absolute()), path.stat()) for path in paths]
    if any(max(s.st_mtime, s.st_ctime) > time.time() - SETTLED for _, s in found):
        return None
    return [[path, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino] for path, s in found]
