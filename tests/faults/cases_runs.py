"""Damaged and hostile files of rows and of runs."""

import copy
import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from extrap.results import rows
from tests.support.plausible import row as plain

Change = Callable[[bytes], bytes]


def row(**more: object) -> dict[str, object]:
    run = {"run": "rope-1-s0", "study": "s", "scheme": "rope", "data": "mixture", "seed": 0}
    run |= {"extension": "direct", "train_length": 64, "config": "c0ffee"}
    return plain("nll", "", 64, "nll", 2.5) | run | more


def sheet() -> bytes:
    """Two rows, as they are written."""
    path = Path("made.csv")
    rows.write(path, [row(), row(length=128)])
    content = path.read_bytes()
    path.unlink()
    return content


def swap(old: bytes, new: bytes) -> Change:
    def changed(content: bytes) -> bytes:
        assert old in content
        return content.replace(old, new, 1)

    return changed


ROWS: dict[str, Change] = {
    "empty": lambda c: b"",
    "a column too few": swap(b"seed,", b""),
    "columns in another order": swap(b"run,study", b"study,run"),
    "cut at the end": lambda c: c[:-1],
    "a terminal's escape": swap(b"rope-1", b"\x1b[2Jrope-1"),
    "a quote": swap(b"rope-1", b'"rope-1'),
    "invalid UTF-8": swap(b"mixture", b"mix\xffture"),
    "a word for a number": swap(b",2.5,", b",high,"),
    "not a number": swap(b",2.5,", b",nan,"),
    "an underscore": swap(b",2.5,", b",2_5,"),
    "a number too large": swap(b",64,", b",9223372036854775808,"),
    "no value": swap(b",2.5,", b",,"),
    "no run": swap(b"rope-1-s0", b""),
    "an unknown status": swap(b",ok,", b",fine,"),
    "an interval upside down": swap(b",2.5,,,", b",2.5,3.0,2.0,"),
    "the same row twice": lambda c: c + c.splitlines(keepends=True)[-1],
}
"""What results/s/rows/a.csv may hold."""

VERSIONS: dict[str, bytes | Callable[[Path], object]] = {
    "later": b'{"rows": 2}',
    "cut off": b'{"rows": ',
    "a pipe": os.mkfifo,
}
"""What results/s/schema.json may be."""


def saved(content: Any) -> bytes:
    torch.save(content, out := io.BytesIO())
    return out.getvalue()


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    new = bytes(b ^ 0xFF for b in content[middle : middle + 64])
    return content[:middle] + new + content[middle + 64 :]


def without(weights: dict, name: str) -> dict:
    return {key: value for key, value in weights.items() if key != name}


def overlapping(content: bytes) -> bytes:
    """An archive in which the directory lists one member a thousand times."""
    out = io.BytesIO(content)
    with zipfile.ZipFile(out, "a") as archive:
        member = max(archive.infolist(), key=lambda m: m.file_size)
        for number in range(1000):
            again = copy.copy(member)
            again.filename = again.orig_filename = f"{member.filename}{number}"
            archive.filelist.append(again)
        archive._didModify = True
    return out.getvalue()


WEIGHTS: dict[str, Callable[[dict], bytes]] = {
    "text": lambda w: b"weights",
    "cut off": lambda w: saved(w)[:-500],
    "flipped bytes": lambda w: flipped(saved(w)),
    "members that overlap": lambda w: overlapping(saved(w)),
    "a number": lambda w: saved(3),
    "one missing": lambda w: saved(without(w, "head.weight")),
    "another kind of number": lambda w: saved(w | {"head.weight": w["head.weight"].double()}),
}
"""What weights.pt may hold, from the weights that belong there."""

CONFIGS: dict[str, Callable[[dict], Any]] = {
    "an option edited": lambda said: said["identity"]["train"].update(lr=1.0),
    "a class of another package": lambda said: said["identity"]["scheme"].update(
        _target_="os.system"
    ),
    "a list of options": lambda said: said.update(identity=[1, 2]),
}
"""What may be done to config.json."""
