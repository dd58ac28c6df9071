"""Flat memory maps of tokens: every document of a split one after the other, with the offsets between them.

A map lives in `<cache>/<content hash>/` and never changes. It is written under a temporary name and renamed when it is whole,
so that a reader sees all of it or nothing, and two writers of the same text end with one map.
"""

import hashlib
import json
import os
import shutil
import struct
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

SPLITS = ("train", "validation")
TOKENISATION = "one token per byte, uint16"
Stream = tuple[np.ndarray, np.ndarray]  # tokens (N,) uint16; offsets (documents + 1,) int64


def write(cache: Path, documents: Iterable[tuple[str, bytes]]) -> str:
    """Writes (split, text) pairs as a token map below `cache`; returns its content hash, a SHA-256 in hex.

    The hash covers the tokenisation and, in order, the split, length and bytes of every document.
    """
    cache.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".writing-", dir=cache))
    folder.chmod(0o755)  # mkdtemp closes it to everyone else, who could then not read a shared cache
    try:
        digest = hashlib.sha256(TOKENISATION.encode())
        offsets: dict[str, list[int]] = {split: [0] for split in SPLITS}
        with ExitStack() as stack:
            files = {split: stack.enter_context(_settled(folder / f"{split}.bin")) for split in SPLITS}
            for split, text in documents:
                digest.update(struct.pack("<BQ", SPLITS.index(split), len(text)))
                digest.update(text)
                files[split].write(np.frombuffer(text, np.uint8).astype("<u2").tobytes())
                offsets[split].append(offsets[split][-1] + len(text))
            about = {"sha256": digest.hexdigest(), "tokens": {split: offsets[split][-1] for split in SPLITS}}
            stack.enter_context(_settled(folder / "about.json")).write(json.dumps(about).encode())
            for split in SPLITS:
                stack.enter_context(_settled(folder / f"{split}.offsets")).write(np.array(offsets[split], "<i8").tobytes())
        _publish(folder, cache / about["sha256"])
        return about["sha256"]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read(cache: Path, sha256: str) -> dict[str, Stream] | None:
    """The map of that content hash, read-only and not loaded; None where there is none or it is not whole."""
    folder = cache / sha256
    try:
        about = json.loads((folder / "about.json").read_text())
        return {split: _map(folder, split, about["tokens"][split]) for split in SPLITS}
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _map(folder: Path, split: str, tokens: int) -> Stream:
    """Tokens and offsets of one split; ValueError where files and offsets disagree."""
    offsets = np.fromfile(folder / f"{split}.offsets", "<i8")
    if offsets[-1] != tokens or (folder / f"{split}.bin").stat().st_size != 2 * tokens:
        raise ValueError("the map is not whole")
    if not tokens:  # an empty file cannot be mapped
        return np.zeros(0, np.uint16), offsets
    return np.memmap(folder / f"{split}.bin", "<u2", mode="r"), offsets


@contextmanager
def _settled(path: Path) -> Iterator[BinaryIO]:
    """A new file, on disk when closed: the rename of its folder must not reach the disk before its bytes do."""
    with open(path, "xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _publish(folder: Path, target: Path) -> None:
    """Renames a whole map to its name. A whole map already there is the same one; a damaged one makes way."""
    try:
        os.replace(folder, target)
    except OSError:
        if read(target.parent, target.name) is None:
            os.replace(target, folder.with_name(folder.name + "-damaged"))
            os.replace(folder, target)
            shutil.rmtree(folder.with_name(folder.name + "-damaged"))
