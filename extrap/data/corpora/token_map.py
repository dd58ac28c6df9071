"""Flat memory maps of tokens: every document of a split one after the other, with the offsets
between them.

A map lives in `<cache>/<content hash>/` and never changes. It is written under a temporary name and
renamed when it is whole, so that a reader sees all of it or nothing, and two writers of the same
text end with one map. A reader believes a map only where its files still have the hashes that were
noted when they were written, and where this machine wrote them (stamp.py) or the text in them has
the hash that the map is named by: what damaged it, or whoever edited or forged it, it is built
again.
"""

import hashlib
import json
import os
import re
import shutil
import struct
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from filelock import lock_descriptor

from extrap.data.corpora import stamp
from extrap.data.encoder import BYTES, Encoder
from extrap.utils import files as atomic

SPLITS = ("train", "validation")
ORDER = "order"
"""File of a byte per document, the number of its split: how the two lie between each other."""

FORMAT = 3
"""Of about.json. Maps of another are built again; 1 had no hashes of its files, 2 no order."""

DAMAGED = (OSError, ValueError, LookupError, TypeError, RecursionError)
"""Errors of reading a map that is missing or damaged."""

YOUNG = 60.0
"""Seconds for which a new map without a lock stays: its writer may be about to lock it."""

LEFT = 86400.0
"""The same in seconds on a file system without locks."""


@dataclass(frozen=True)
class Stream:
    """tokens (N,) unsigned; offsets (documents + 1,) int64; sizes (N,) bytes of text behind each
    token, None where all are 1.
    """

    tokens: np.ndarray
    offsets: np.ndarray
    sizes: np.ndarray | None


def write(cache: Path, documents: Iterable[tuple[str, bytes]], encoder: Encoder = BYTES) -> str:
    """Writes (split, text) pairs as a token map below `cache`; returns its content hash, a SHA-256
    in hex.

    The hash covers the encoder and, in order, the split, length and bytes of every document.
    """
    atomic.make_folder(cache)
    remove_left(cache)
    folder = Path(tempfile.mkdtemp(prefix=".writing-", dir=cache))
    # mkdtemp closes the folder to other users, who could then not read a shared cache
    folder.chmod(0o755)
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # a file system without locks
            lock_descriptor(held, blocking=False)
        sha256 = _fill(folder, documents, encoder)
        _publish(folder, cache / sha256)
        return sha256
    finally:
        os.close(held)
        shutil.rmtree(folder, ignore_errors=True)


def _fill(folder: Path, documents: Iterable[tuple[str, bytes]], encoder: Encoder) -> str:
    digest, offsets = hashlib.sha256(encoder.name.encode()), {split: [0] for split in SPLITS}
    order = bytearray()
    with ExitStack() as stack:
        files = {split: stack.enter_context(_settled(folder / f"{split}.bin")) for split in SPLITS}
        sizes = {
            split: stack.enter_context(_settled(folder / f"{split}.sizes"))
            for split in SPLITS
            if encoder.sized
        }
        for split, text in documents:
            _add(digest, SPLITS.index(split), text)
            order.append(SPLITS.index(split))
            ids, behind = encoder(text)
            files[split].write(ids.astype(encoder.dtype).tobytes())
            if encoder.sized:
                sizes[split].write(behind.astype("<u4").tobytes())
            offsets[split].append(offsets[split][-1] + len(ids))
    for split in SPLITS:
        with _settled(folder / f"{split}.offsets") as file:
            file.write(np.array(offsets[split], "<i8").tobytes())
    with _settled(folder / ORDER) as file:
        file.write(order)
    hashes = {path.name: _digest(path) for path in sorted(folder.iterdir())}
    sha256 = digest.hexdigest()
    about = {"format": FORMAT, "sha256": sha256, "encoder": encoder.name, "files": hashes}
    with _settled(folder / "about.json") as file:
        file.write(json.dumps(about).encode())
    return sha256


def _add(digest: Any, split: int, text: bytes) -> None:
    digest.update(struct.pack("<BQ", split, len(text)))
    digest.update(text)


def read(cache: Path, sha256: str, encoder: Encoder = BYTES) -> dict[str, Stream] | None:
    """Returns the map of a content hash, read-only and not loaded. Returns None if the map is
    missing or damaged, or if its hash cannot be verified.
    """
    folder = cache / sha256
    try:
        if not re.fullmatch("[0-9a-f]{64}", sha256):
            raise ValueError("not a hash")
        # reading a pipe or a device would never end
        if not all(path.is_file() for path in folder.iterdir()):
            raise ValueError("not files")
        about = json.loads((folder / "about.json").read_text())
        if (about["format"], about["sha256"], about["encoder"]) != (FORMAT, sha256, encoder.name):
            raise ValueError("another map")
        maps = {split: _map(folder, split, about["files"], encoder) for split in SPLITS}
        if not stamp.holds(folder):
            if encoder.sized or _content(folder, maps, encoder) != sha256:
                raise ValueError("written by somebody else")
            with suppress(OSError):  # a cache that others keep
                stamp.put(folder)
        return maps
    except DAMAGED:
        return None


def _content(folder: Path, maps: dict[str, Stream], encoder: Encoder) -> str:
    """Returns the content hash of a map whose tokens are the bytes of its text."""
    digest = hashlib.sha256(encoder.name.encode())
    places = {split: pairwise(maps[split].offsets.tolist()) for split in SPLITS}
    for number in (folder / ORDER).read_bytes():
        start, stop = next(places[SPLITS[number]], (0, 0))
        _add(digest, number, maps[SPLITS[number]].tokens[start:stop].astype(np.uint8).tobytes())
    if any(next(left, None) for left in places.values()):
        raise ValueError("documents without a place")
    return digest.hexdigest()


def _map(folder: Path, split: str, hashes: dict[str, str], encoder: Encoder) -> Stream:
    """Returns one split. Raises ValueError if its files have changed or do not belong together."""

    def array(kind: str, dtype: str) -> np.ndarray:
        path = folder / f"{split}.{kind}"
        stat = path.stat()
        if _digest_of(str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino) != hashes[path.name]:
            raise ValueError(f"{path.name} has changed")
        # An empty file cannot be mapped.
        return np.memmap(path, dtype, mode="r") if stat.st_size else np.zeros(0, dtype)

    tokens, offsets = array("bin", encoder.dtype), np.array(array("offsets", "<i8"))
    sizes = array("sizes", "<u4") if encoder.sized else None
    if (
        offsets[0]
        or offsets[-1] != len(tokens)
        or (np.diff(offsets) < 0).any()
        or (sizes is not None and len(sizes) != len(tokens))
    ):
        raise ValueError("the files do not belong together")
    if len(tokens) and int(tokens.max()) >= encoder.ids:
        raise ValueError("tokens that the encoder does not have")
    return Stream(tokens, offsets, sizes)


@lru_cache(maxsize=64)
def _digest_of(path: str, size: int, modified: int, inode: int) -> str:
    """Returns the hash of a file, computed once while its size and times stay the same: a sweep
    reads the same map in every check.
    """
    return _digest(Path(path))


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _settled(path: Path) -> Iterator[BinaryIO]:
    """A new file, on disk when closed: the rename of its folder must not reach the disk before its
    bytes do.
    """
    try:
        with open(path, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        error.filename = error.filename or str(path)  # what a full disk says has no name
        raise


def _publish(folder: Path, target: Path) -> None:
    """Renames a whole map to its name, one process at a time. A different map of that name makes
    way.
    """
    atomic.sync_folder(folder)
    cache = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        lock_descriptor(cache)
        if not _same(folder, target):
            if target.is_symlink() or target.exists():
                os.replace(target, folder.with_name(folder.name + "-damaged"))
            os.replace(folder, target)
        shutil.rmtree(folder.with_name(folder.name + "-damaged"), ignore_errors=True)
        stamp.put(target)
        os.fsync(cache)
    finally:
        os.close(cache)


def _same(ours: Path, theirs: Path) -> bool:
    """True if two maps are equal, and the second matches its about.json."""
    try:
        if not all(path.is_file() for path in theirs.iterdir()):
            return False
        about = (theirs / "about.json").read_bytes()
        hashes = {name: _digest(theirs / name) for name in json.loads(about)["files"]}
        return about == (ours / "about.json").read_bytes() and hashes == json.loads(about)["files"]
    except DAMAGED:
        return False


def remove_left(cache: Path) -> None:
    """Removes the leftovers of killed writers: folders that no process holds, unless new."""
    for left in cache.glob(".writing-*"):
        try:
            newest = max(path.stat().st_mtime for path in (left, *left.iterdir()))
            age = time.time() - newest
            # _free takes the lock for a moment, which a writer that begins would miss: only old
            # folders are tested
            if age > LEFT or (age > YOUNG and _free(left)):
                shutil.rmtree(left, ignore_errors=True)
        except (FileNotFoundError, NotADirectoryError):  # its writer has just finished
            continue
    atomic.sweep_old(cache / "index", ".*.tmp")


def _free(folder: Path) -> bool:
    """True if certainly no process writes a map there."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return lock_descriptor(handle, blocking=False)
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(handle)
