"""From the documents of a source to pieces with their tokens, in order, with little in memory.

Bytes are cut as they are read. A tokenizer reads whole documents, or blocks of BLOCK bytes that end
with a line, in one process on each core; its tokens are cut afterwards. Encoded shards of SHARD
bytes lie in a folder until the map is whole: the command that makes a map again, after a kill,
reads the text again and encodes what is left.
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
from extrap.utils import files as atomic
from extrap.utils.cores import cores
from extrap.utils.errors import UserError
from extrap.utils.progress import Progress

BLOCK, BATCH, SHARD = 2**22, 2**19, 2**24
"""Bytes of text that a tokenizer reads at once, a process takes at once, and a shard holds."""

Text = bytes | Iterator[bytes]
"""The text of a document, or of a long one its blocks."""

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


def pieces(
    documents: Iterable[tuple[str, Text]],
    encoder: Encoder,
    longest: int | None = None,
    most: int | None = None,
    folder: Path | None = None,
) -> Iterator[Piece]:
    """Yields the pieces of documents. longest: tokens of a piece; most: tokens of all of them;
    folder: of the shards, which need none if the text is small.
    """
    left = most
    for piece in _cut(documents, encoder, longest, folder):
        if left is None:
            yield piece
            continue
        if left <= 0:
            return
        yield first(piece, left)
        left -= len(piece.ids)


def first(piece: Piece, tokens: int) -> Piece:
    """Returns the first tokens of a piece, with their text."""
    if len(piece.ids) <= tokens:
        return piece
    ids, behind = piece.ids[:tokens], piece.behind[:tokens]
    return Piece(piece.name, piece.text[: int(behind.sum())], ids, behind)


def _cut(
    documents: Iterable[tuple[str, Text]],
    encoder: Encoder,
    longest: int | None,
    folder: Path | None,
) -> Iterator[Piece]:
    if not encoder.sized:
        for name, text in documents:
            for part, content in cut(name, text, longest):
                yield Piece(part, content, *encoder(content))
        return
    texts = (block for name, text in documents for block in blocks(name, text))
    for piece in encoded(texts, encoder, folder):
        count = len(piece.ids)
        if longest is None or count <= longest:
            yield piece
            continue
        ends = np.concatenate([[0], piece.behind.cumsum(dtype=np.int64)])
        for i, at in enumerate(range(0, count, longest)):
            to = min(count, at + longest)
            text = piece.text[ends[at] : ends[to]]
            yield Piece(f"{piece.name}#{i}", text, piece.ids[at:to], piece.behind[at:to])


def cut(name: str, text: Text, size: int | None) -> Iterator[tuple[str, bytes]]:
    """Yields a document in pieces of at most `size` bytes, name#0, name#1, ...; a shorter document
    is one piece under its own name. Pieces of a document without a name are 0, 1, ...
    """
    held, count = bytearray(), 0
    for block in [text] if isinstance(text, bytes) else text:
        held += block
        while size is not None and len(held) > size:
            yield _part(name, count), bytes(held[:size])
            del held[:size]
            count += 1
    if held or not count:
        yield _part(name, count) if count else name or "0", bytes(held)


def blocks(name: str, text: Text) -> Iterator[tuple[str, bytes]]:
    """Yields a document in blocks of at most BLOCK bytes, named as by `cut`. A block ends with a
    line, else before a space, else with a character.
    """
    held, count = bytearray(), 0
    for block in [text] if isinstance(text, bytes) else text:
        held += block
        while len(held) > BLOCK:
            end = held.rfind(b"\n", 0, BLOCK) + 1 or held.rfind(b" ", 1, BLOCK)
            end = BLOCK if end <= 0 else end
            while held[end] & 0xC0 == 0x80:
                end -= 1
            yield _part(name, count), bytes(held[:end])
            del held[:end]
            count += 1
    if held or not count:
        yield _part(name, count) if count else name or "0", bytes(held)


def joined(texts: Iterable[Text], between: str) -> Iterator[bytes]:
    """Yields texts as the blocks of one, with `between` behind each."""
    for text in texts:
        yield from [text] if isinstance(text, bytes) else text
        yield between.encode()


def _part(name: str, number: int) -> str:
    return f"{name}#{number}" if name else str(number)


def encoded(
    texts: Iterable[tuple[str, bytes]], encoder: Encoder, folder: Path | None = None
) -> Iterator[Piece]:
    """Yields texts with their tokens. Small texts are encoded in this process."""
    groups = grouped(texts, SHARD, lambda text: len(text[1]))
    begin, more = next(groups, []), next(groups, None)
    if more is None:
        for batch in grouped(begin, BATCH, lambda text: len(text[1])):
            found = _tokens(encoder, [text for _, text in batch])
            yield from (Piece(*text, *own) for text, own in zip(batch, found, strict=True))
        return
    waiting: deque[tuple[Shard, Callable[[], list[Tokens]]]] = deque()
    with _workers(encoder) as pool, Progress("tokenise") as progress:
        size = 0
        for shard in chain([begin, more], groups, [[]]):  # the last waits for the one before
            waiting.append((shard, _begun(pool, encoder, shard, folder)))
            if len(waiting) == 1:
                continue
            texts, tokens = waiting.popleft()
            for text, found in zip(texts, tokens(), strict=True):
                yield Piece(*text, *found)
                size += len(text[1])
            progress(size // 2**20, note=f"{size // 2**20:,} MiB")


def grouped(items: Iterable[T], most: int, size: Callable[[T], int]) -> Iterator[list[T]]:
    """Yields items in lists; each list but the last has a size of `most` or more."""
    held, total = list[T](), 0
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
    digest = hashlib.sha256(encoder.name.encode())
    for text in texts:
        digest.update(struct.pack("<Q", len(text)) + text)
    path = None if folder is None else folder / f"{digest.hexdigest()}.npz"
    if path is not None and (kept := _kept(path, len(texts))) is not None:
        return lambda: kept
    batches: list[Future[list[Tokens]]] = []
    for batch in grouped(texts, BATCH, len):
        batches.append(pool.submit(_batch, batch))

    def finish() -> list[Tokens]:
        try:
            found = [tokens for batch in batches for tokens in batch.result()]
        except BrokenProcessPool:
            problem = "a process that tokenises was ended, maybe for want of memory"
            remedy = "the same command goes on where it stopped"
            raise UserError("data.corpus", problem=problem, remedy=remedy) from None
        if path is not None and found:
            _keep(path, found)
        return found

    return finish


def _keep(path: Path, tokens: list[Tokens]) -> None:
    """Writes a shard, and the size, times and inode by which this machine knows its file."""
    atomic.make_folder(path.parent)
    counts = np.array([len(ids) for ids, _ in tokens], np.int64)
    ids, behind = (np.concatenate([pair[n] for pair in tokens]) for n in (0, 1))
    draft = path.with_suffix(f".{os.getpid()}")
    with open(draft, "xb") as file:
        np.savez(file, counts=counts, ids=ids, behind=behind)
        os.fsync(file.fileno())
    os.replace(draft, path)
    atomic.replace(path.with_suffix(".mark"), _mark(path), sync=False)


def _mark(path: Path) -> bytes:
    stat = path.lstat()
    return repr([stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]).encode()


def _kept(path: Path, count: int) -> list[Tokens] | None:
    """Returns the tokens of a shard that this machine wrote, else None."""
    with suppress(OSError, ValueError, KeyError):
        if path.with_suffix(".mark").read_bytes() != _mark(path):
            return None
        with np.load(path, allow_pickle=False) as found:
            ids, behind, ends = found["ids"], found["behind"], found["counts"].cumsum()
        if len(ends) == count:
            return list(zip(np.split(ids, ends[:-1]), np.split(behind, ends[:-1]), strict=True))
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
