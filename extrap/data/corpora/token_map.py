"""Flat memory maps of tokens: every document of a split one after the other, with the offsets
between them.

A map lives in `<cache>/<content hash>/` and never changes. It is written under a temporary name and
renamed when it is whole, so that a reader sees all of it or nothing, and two writers of the same
text end with one map. `about.json` holds size, times and inode of every file as this machine wrote
it. A reader believes a map only if they are still the same: whoever changes or copies a file, or
packs a folder for somebody else, cannot choose its inode and its time of change to the nanosecond.
Any other map is built again.
"""

import hashlib
import json
import os
import re
import shutil
import struct
import tempfile
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from filelock import lock_descriptor

from extrap.data.corpora.shards import Piece
from extrap.data.encoder import BYTES, Encoder
from extrap.utils import atomic
from extrap.utils.errors import UserError
from extrap.utils.untrusted import read_json

SPLITS = ("train", "validation")
ABOUT = "about.json"

FORMAT = 4  # of about.json; extrap builds maps of another format again
LEFT = 86400.0  # seconds after which a map that nobody has finished is a leftover


@dataclass(frozen=True)
class Stream:
    """The tokens of all documents in a row.

    Args:
        tokens: (N,) unsigned
        offsets: (documents + 1,) int64
        sizes: (N,) bytes of text behind each token, None where all are 1
    """

    tokens: np.ndarray
    offsets: np.ndarray
    sizes: np.ndarray | None


def write(cache: Path, documents: Iterable[tuple[str, bytes]], encoder: Encoder = BYTES) -> str:
    """Writes (split, text) pairs as a token map. The rest as `write_encoded`."""
    made = ((split, Piece("", text, *encoder(text))) for split, text in documents)
    return write_encoded(cache, made, encoder)


def write_encoded(cache: Path, found: Iterable[tuple[str, Piece]], encoder: Encoder) -> str:
    """Writes (split, piece) pairs as a token map below `cache`; returns its content hash, a SHA-256
    in hex.

    The hash covers the encoder and, in order, the split, length and bytes of every piece.
    """
    atomic.make_folder(cache)
    folder = Path(tempfile.mkdtemp(prefix=".writing-", dir=cache))
    # mkdtemp closes the folder to other users, who could then not read a shared cache
    folder.chmod(0o755)
    try:
        sha256 = _fill(folder, found, encoder)
        (folder / ABOUT).write_text(json.dumps(_about(folder, sha256, encoder)))
        _publish(folder, cache, sha256, encoder)
        return sha256
    except OSError as error:
        error.filename = error.filename or str(folder)  # what a full disk says has no name
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fill(folder: Path, found: Iterable[tuple[str, Piece]], encoder: Encoder) -> str:
    digest = hashlib.sha256(encoder.name.encode())
    offsets = {split: [0] for split in SPLITS}
    with ExitStack() as stack:

        def opened(split: str, kind: str) -> BinaryIO:
            return stack.enter_context(open(folder / f"{split}.{kind}", "xb"))

        files = {split: opened(split, "bin") for split in SPLITS}
        sizes = {split: opened(split, "sizes") for split in SPLITS}
        for split, (_, text, ids, behind) in found:
            digest.update(struct.pack("<BQ", SPLITS.index(split), len(text)))
            digest.update(text)
            files[split].write(ids.astype(encoder.dtype).tobytes())
            if encoder.sized:
                sizes[split].write(behind.astype("<u4").tobytes())
            offsets[split].append(offsets[split][-1] + len(ids))
    for split in SPLITS:
        (folder / f"{split}.offsets").write_bytes(np.array(offsets[split], "<i8").tobytes())
    return digest.hexdigest()


def _about(folder: Path, sha256: str, encoder: Encoder) -> dict:
    """Returns the content of about.json for the files of a folder as they are now."""
    stats = {path.name: path.lstat() for path in folder.iterdir() if path.name != ABOUT}
    files = {
        name: [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
        for name, stat in sorted(stats.items())
    }
    return {"format": FORMAT, "sha256": sha256, "encoder": encoder.name, "files": files}


def read(cache: Path, sha256: str, encoder: Encoder = BYTES) -> dict[str, Stream] | None:
    """Returns the map of a content hash, read-only and not loaded. Returns None if the map is
    missing, or is not as this machine wrote it.
    """
    folder = cache / sha256
    try:
        if not re.fullmatch("[0-9a-f]{64}", sha256):
            raise ValueError("not a hash")
        # reading a pipe or a device would never end
        if not all(path.is_file() for path in folder.iterdir()):
            raise ValueError("not files")
        if read_json(folder / ABOUT) != _about(folder, sha256, encoder):
            raise ValueError("another map, or changed")
        return {split: _map(folder, split, encoder) for split in SPLITS}
    except (OSError, ValueError, LookupError, TypeError, UserError):  # missing or damaged
        return None


def _map(folder: Path, split: str, encoder: Encoder) -> Stream:
    def array(kind: str, dtype: str) -> np.ndarray:
        path = folder / f"{split}.{kind}"
        # An empty file cannot be mapped.
        return np.memmap(path, dtype, mode="r") if path.stat().st_size else np.zeros(0, dtype)

    tokens = array("bin", encoder.dtype)
    offsets = np.array(array("offsets", "<i8"))
    sizes = array("sizes", "<u4") if encoder.sized else None
    return Stream(tokens, offsets, sizes)


def _publish(folder: Path, cache: Path, sha256: str, encoder: Encoder) -> None:
    """Renames a whole map to its name, one process of a machine at a time: its bytes reach the disk
    before its name does. A damaged map of that name makes way, a map of another machine stays.
    """
    for path in folder.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())
    atomic.sync_folder(folder)
    target = cache / sha256
    damaged = folder.with_name(folder.name + "-damaged")
    handle = os.open(cache, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(
            OSError
        ):  # a disk without locks: there the rename decides, as between machines
            lock_descriptor(handle)
        if read(cache, sha256, encoder) is None:
            if os.path.lexists(target):
                os.replace(target, damaged)
            try:
                os.replace(folder, target)
            except OSError:
                if read(cache, sha256, encoder) is None:
                    raise
        shutil.rmtree(damaged, ignore_errors=True)
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_left(cache: Path, own: Path | None = None) -> None:
    """Removes the leftovers of killed writers: folders in which nothing has changed for a day.

    own: the shards that this process goes on from, which stay at any age
    """
    for left in {*cache.glob(".writing-*")} - {own}:
        # its writer has just finished, or is another user who has just begun
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            newest = max(path.stat().st_mtime for path in (left, *left.iterdir()))
            if time.time() - newest > LEFT:
                shutil.rmtree(left, ignore_errors=True)
    atomic.sweep(cache / "index", ".*.tmp", atomic.HOUR)
