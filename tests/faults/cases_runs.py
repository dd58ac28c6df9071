"""Damaged and hostile files of rows and of runs."""

import copy
import io
import json
import os
import pickle
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
    "another table": lambda c: b"a,b\n1,2\n",
    "a column too many": swap(b"run,", b"run,colour,"),
    "a column too few": swap(b"seed,", b""),
    "columns in another order": swap(b"run,study", b"study,run"),
    "a byte order mark": lambda c: b"\xef\xbb\xbf" + c,
    "semicolons": lambda c: c.replace(b",", b";"),
    "cut in a row": lambda c: c[:-30],
    "cut at the end": lambda c: c[:-1],
    "a field too many": lambda c: c[:-1] + b",1\n",
    "an empty line": lambda c: c + b"\n",
    "NUL": swap(b"rope-1", b"ro\0pe-1"),
    "a terminal's escape": swap(b"rope-1", b"\x1b[2Jrope-1"),
    "a line end within": swap(b"rope-1", b'"ro\npe-1"'),
    "right to left": swap(b"rope-1", "\u202erope-1".encode()),
    "a quote": swap(b"rope-1", b'"rope-1'),
    "invalid UTF-8": swap(b"mixture", b"mix\xffture"),
    "UTF-16": lambda c: c.decode().encode("utf-16"),
    "a word for a number": swap(b",2.5,", b",high,"),
    "a fraction for a length": swap(b",64,", b",64.5,"),
    "not a number": swap(b",2.5,", b",nan,"),
    "digits of another script": swap(b",2.5,", ",٢,".encode()),
    "an underscore": swap(b",2.5,", b",2_5,"),
    "a number too large": swap(b",64,", b",9223372036854775808,"),
    "more digits than are read": swap(b",64,", b"," + b"9" * 5000 + b","),
    "a field without end": swap(b"rope-1", b"r" * 200_000),
    "no value": swap(b",2.5,", b",,"),
    "no run": swap(b"rope-1-s0", b""),
    "an unknown status": swap(b",ok,", b",fine,"),
    "an interval upside down": swap(b",2.5,,,", b",2.5,3.0,2.0,"),
    "the same row twice": lambda c: c + c.splitlines(keepends=True)[-1],
}
"""What results/s/rows/a.csv may hold."""

VERSIONS: dict[str, bytes | Callable[[Path], object]] = {
    "later": b'{"rows": 2}',
    "of another kind": b'{"rows": "one"}',
    "cut off": b'{"rows": ',
    "a list": b"[]",
    "nested deep": b"[" * 99_999,
    "binary": b"\xff\xfe\0",
    "a folder": lambda path: path.mkdir(),
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


class Call:
    """What would end the process if a pickle of it were read as code."""

    def __reduce__(self) -> tuple:
        return os._exit, (99,)


class Memory:
    """A number in a pickle that becomes so many bytes of memory."""

    def __reduce__(self) -> tuple:
        return bytearray, (2**40,)


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


def packed(content: bytes) -> bytes:
    """An archive of the same members, packed, and one that holds far more than its bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as given, zipfile.ZipFile(out, "w") as archive:
        for name in given.namelist():
            archive.writestr(name, given.read(name), zipfile.ZIP_DEFLATED)
        archive.writestr("more", bytes(2**24), zipfile.ZIP_DEFLATED)
    return out.getvalue()


WEIGHTS: dict[str, Callable[[dict], bytes]] = {
    "empty": lambda w: b"",
    "text": lambda w: b"weights",
    "cut off": lambda w: saved(w)[:-500],
    "flipped bytes": lambda w: flipped(saved(w)),
    "a pickle of code": lambda w: pickle.dumps(Call()),
    "code among the weights": lambda w: saved(w | {"head.weight": Call()}),
    "code beside the weights": lambda w: saved(w | {"more": Call()}),
    "members that overlap": lambda w: overlapping(saved(w)),
    "members that are packed": lambda w: packed(saved(w)),
    "memory for a number": lambda w: saved(w | {"more": Memory()}),
    "a number": lambda w: saved(3),
    "none": lambda w: saved({}),
    "one missing": lambda w: saved(without(w, "head.weight")),
    "one too many": lambda w: saved(w | {"more": torch.zeros(1)}),
    "another shape": lambda w: saved(w | {"head.weight": torch.zeros(3, 3)}),
    "another kind of number": lambda w: saved(w | {"head.weight": w["head.weight"].double()}),
    "words": lambda w: saved(w | {"head.weight": "heavy"}),
}
"""What weights.pt may hold, from the weights that belong there."""

CONFIGS: dict[str, Callable[[dict], Any]] = {
    "an option edited": lambda said: said["identity"]["train"].update(lr=1.0),
    "a class of another package": lambda said: said["identity"]["scheme"].update(
        _target_="os.system"
    ),
    "an option more": lambda said: said["identity"].update(more=1),
    "an option less": lambda said: said["identity"].pop("precision"),
    "another corpus": lambda said: said["identity"].update(corpus="f" * 64),
    "no options": lambda said: said.update(identity={}),
    "a list of options": lambda said: said.update(identity=[1, 2]),
    "nested deep": lambda said: said.update(identity=json.loads("[" * 200 + "]" * 200)),
}
"""What may be done to config.json."""
