"""Rows of text read through `datasets`, from local files or the hub, and what tells that local
files have changed.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Any

from extrap.utils.errors import UserError

SETTLED = 2.0  # seconds; the coarsest file times in use


@contextmanager
def streamed(kind: str, **options: Any) -> Iterator:
    """A data set as a stream of rows (dicts): no copy in the cache of `datasets`, no progress bars,
    no log lines.
    """
    # takes a second to import, which a corpus that is already mapped need not wait for
    import datasets

    bars, level = not datasets.are_progress_bars_disabled(), datasets.logging.get_verbosity()
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)
    try:
        # Even a stream leaves a lock file in its cache folder, which lies in the home folder unless
        # told otherwise.
        with tempfile.TemporaryDirectory(prefix="extrap-datasets-") as cache:
            yield datasets.load_dataset(kind, streaming=True, cache_dir=cache, **options)
    finally:
        datasets.logging.set_verbosity(level)
        if bars:
            datasets.enable_progress_bars()


def rows(kind: str, paths: Sequence[Path], **options: Any) -> Iterator[dict]:
    """Rows of local files of kind text, json or parquet. Raises UserError naming a file that is not
    of that kind.
    """
    done = 0
    try:
        with streamed(
            kind,
            data_files=[escape(str(path.absolute())) for path in paths],
            split="train",
            **options,
        ) as found:
            for row in found:
                yield row
                done += 1
    except Exception as error:  # unpacking, decoding and typing each have their own
        path, words = paths[min(done, len(paths) - 1)], line(error)
        raise UserError(
            f"data.corpus.path={path}: not readable as {kind} ({words}); choose files with a "
            "pattern such as 'folder/**/*.txt'"
        ) from None


def texts(paths: Sequence[Path]) -> Iterator[str]:
    """The whole UTF-8 text of each file, in order, line ends as \\n. Raises UserError naming a file
    that is none.
    """
    return (row["text"] for row in rows("text", paths, sample_by="document")) if paths else iter(())


def line(error: Exception) -> str:
    """The first line of what an exception says."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def stamps(paths: Sequence[Path]) -> list | None:
    """Path, size, times and inode of every file; None while one is so new that a further change
    could leave them as they are.
    """
    found = [(str(path.absolute()), path.stat()) for path in paths]
    if any(max(s.st_mtime, s.st_ctime) > time.time() - SETTLED for _, s in found):
        return None
    return [[path, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino] for path, s in found]
