"""Texts with their tokens, in order, with little in memory.

A tokenizer reads in one process on each core. Encoded shards of SHARD bytes lie in a folder until
the map is whole: the command that makes a map again, after a kill, reads the text again and encodes
the shards that are left.
"""

import hashlib
import multiprocessing
import os
import signal
import struct
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from extrap.data.encoder import Encoder
from extrap.utils import atomic
from extrap.utils.cores import cores
from extrap.utils.errors import UserError
from extrap.utils.progress import Progress

BATCH, SHARD = 2**19, 2**24
"""Bytes of text that a process takes at once, and that a shard holds."""

Shard = list[tuple[str, bytes]]
"""Names and texts."""

T = TypeVar("T")

Tokens = tuple[np.ndarray, np.ndarray]
"""Ids of a text, and the bytes behind each."""


class Piece(NamedTuple):
    """A document, or a piece of a long one: its name, which decides its split, its bytes, its
    tokens `ids` (N,), and the bytes of text `behind` each token.
    """

    name: str
    text: bytes
    ids: np.ndarray
    behind: np.ndarray


def encoded(
    texts: Iterable[tuple[str, bytes]], encoder: Encoder, folder: Path | None = None
) -> Iterator[Piece]:
    """Yields texts with their tokens. Small texts are encoded in this process."""
    shards = grouped(texts, SHARD, _bytes)
    begin = next(shards, [])
    more = next(shards, None)
    if more is None:
        for batch in grouped(begin, BATCH, _bytes):
            tokens = _tokens(encoder, [text for _, text in batch])
            yield from _pieces(batch, tokens)
    else:
        yield from _in_processes(chain([begin, more], shards), encoder, folder)


def _in_processes(
    shards: Iterable[Shard], encoder: Encoder, folder: Path | None
) -> Iterator[Piece]:
    """Yields the texts of shards with their tokens, while the processes read the next shard."""
    waiting: deque[tuple[Shard, Callable[[], list[Tokens]]]] = deque()
    with _workers(encoder) as pool, Progress("tokenise") as progress:
        size = 0
        for shard in chain(shards, [[]]):  # the last waits for the one before
            try:
                waiting.append((shard, _begun(pool, encoder, shard, folder)))
                if len(waiting) == 1:
                    continue
                oldest, finish = waiting.popleft()
                tokens = finish()
            except BrokenProcessPool:
                problem = "a process that tokenises was ended, maybe for want of memory"
                remedy = "the same command goes on where it stopped"
                raise UserError("data.corpus", problem=problem, remedy=remedy) from None
            yield from _pieces(oldest, tokens)
            size += sum(map(_bytes, oldest))
            progress(size // 2**20, note=f"{size // 2**20:,} MiB")


def _pieces(texts: Shard, tokens: list[Tokens]) -> Iterator[Piece]:
    for (name, text), (ids, behind) in zip(texts, tokens, strict=True):
        yield Piece(name, text, ids, behind)


def _bytes(text: tuple[str, bytes]) -> int:
    return len(text[1])


def grouped(items: Iterable[T], most: int, size: Callable[[T], int]) -> Iterator[list[T]]:
    """Yields items in lists; each list but the last has a size of `most` or more."""
    held = list[T]()
    total = 0
    for item in items:
        held.append(item)
        total += size(item)
        if total >= most:
            yield held
            held, total = [], 0
    if held:
        yield held


# --- shards


def _begun(
    pool: ProcessPoolExecutor, encoder: Encoder, shard: Shard, folder: Path | None
) -> Callable[[], list[Tokens]]:
    """Begins with a shard; returns the function that waits for its tokens."""
    texts = [text for _, text in shard]
    path = None if folder is None else folder / f"{_digest(encoder, texts)}.npz"
    if path is not None and (kept := _kept(path, len(texts))) is not None:
        return lambda: kept
    batches: list[Future[list[Tokens]]] = []
    for batch in grouped(texts, BATCH, len):
        batches.append(pool.submit(_batch, batch))

    def finish() -> list[Tokens]:
        found = list(chain.from_iterable(batch.result() for batch in batches))
        if path is not None and found:
            _keep(path, found)
        return found

    return finish


def _digest(encoder: Encoder, texts: list[bytes]) -> str:
    """Returns the hash of an encoder and of what it reads."""
    digest = hashlib.sha256(encoder.name.encode())
    for text in texts:
        digest.update(struct.pack("<Q", len(text)) + text)
    return digest.hexdigest()


def _keep(path: Path, tokens: list[Tokens]) -> None:
    """Writes a shard, and the size, times and inode by which this machine knows its file; nothing
    where another process has just made the whole map and removed the folder.
    """
    ids, behind = zip(*tokens, strict=True)
    counts = np.array([len(own) for own in ids], np.int64)
    draft = atomic.draft(path)
    atomic.make_folder(path.parent)
    with suppress(FileNotFoundError):
        with open(draft, "xb") as file:
            np.savez(
                file,
                counts=counts,
                ids=np.concatenate(ids),
                behind=np.concatenate(behind),
            )
            os.fsync(file.fileno())
        os.replace(draft, path)
        atomic.replace_here(path.with_suffix(".mark"), _mark(path), sync=False)


def _mark(path: Path) -> bytes:
    stat = path.lstat()
    return repr([stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]).encode()


def _kept(path: Path, count: int) -> list[Tokens] | None:
    """Returns the tokens of a shard that this machine wrote, else None."""
    with suppress(OSError, ValueError, KeyError):
        if path.with_suffix(".mark").read_bytes() != _mark(path):
            return None
        with np.load(path, allow_pickle=False) as found:
            ends = found["counts"].cumsum()
            ids = np.split(found["ids"], ends[:-1])
            behind = np.split(found["behind"], ends[:-1])
        if len(ends) == count:
            return list(zip(ids, behind, strict=True))
    return None


# --- processes

_ENCODER: list[Encoder] = []
"""The encoder of a worker."""


@contextmanager
def _workers(encoder: Encoder) -> Iterator[ProcessPoolExecutor]:
    """Returns a process on each core. None outlives this one, also after a kill."""
    context = multiprocessing.get_context("fork")
    with warnings.catch_warnings():  # of Python 3.12, about threads; a worker takes none of them
        warnings.simplefilter("ignore", DeprecationWarning)
        pool = ProcessPoolExecutor(cores(), context, _begin, (encoder, os.getpid()))
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)


def _begin(encoder: Encoder, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # a core has one worker
    _ENCODER.append(encoder)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _batch(texts: list[bytes]) -> list[Tokens]:
    """Returns the tokens of texts, in small numbers."""
    (encoder,) = _ENCODER
    found = _tokens(encoder, texts)
    return [(ids.astype(encoder.dtype), _small(behind)) for ids, behind in found]


def _tokens(encoder: Encoder, texts: list[bytes]) -> list[Tokens]:
    batch = getattr(encoder, "batch", None)
    return [encoder(text) for text in texts] if batch is None else batch(texts)


def _small(behind: np.ndarray) -> np.ndarray:
    return behind.astype("<u4") if behind.max(initial=0) > 255 else behind.astype("u1")
