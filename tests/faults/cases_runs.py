"""Damaged and hostile files of rows and of runs, and what is said of each."""

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

Change = Callable[[bytes], bytes]
AGAIN = "delete this file and evaluate its run again"


def row(**more: object) -> dict[str, object]:
    same = {
        "run": "rope-1-s0",
        "study": "s",
        "scheme": "rope",
        "data": "mixture",
        "extension": "direct",
        "seed": 0,
        "train_length": 64,
    }
    return (
        same
        | {
            "task": "nll",
            "metric": "nll",
            "length": 64,
            "value": 2.5,
            "status": "ok",
            "config": "c0ffee",
        }
        | more
    )


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


ROWS: dict[str, tuple[Change, str]] = {
    "empty": (lambda c: b"", f":1: wrong header (run); columns are run,study,...; {AGAIN}"),
    "another table": (lambda c: b"a,b\n1,2\n", ":1: wrong header (a); columns are run,study"),
    "a column too many": (swap(b"run,", b"run,colour,"), ":1: wrong header (colour); columns are"),
    "a column too few": (swap(b"seed,", b""), ":1: wrong header (seed); columns are"),
    "columns in another order": (
        swap(b"run,study", b"study,run"),
        ":1: wrong header (order of columns); columns are",
    ),
    "a byte order mark": (lambda c: b"\xef\xbb\xbf" + c, ":1: wrong header (...run); columns are"),
    "semicolons": (lambda c: c.replace(b",", b";"), ":1: wrong header"),
    "cut in a row": (lambda c: c[:-30], f":3: ...; {AGAIN}"),
    "cut at the end": (lambda c: c[:-1], f":3: the last line is cut off; {AGAIN}"),
    "half of it": (
        lambda c: c[: len(c) // 2],
        f":1: wrong header (...); columns are ...; {AGAIN}|results/s/rows/a.csv:2: ...; {AGAIN}",
    ),
    "a field too many": (lambda c: c[:-1] + b",1\n", f":3: 28 fields instead of 27; {AGAIN}"),
    "an empty line": (lambda c: c + b"\n", ":4: 0 fields instead of 27"),
    "NUL": (swap(b"rope-1", b"ro\0pe-1"), f":2: ...; {AGAIN}"),
    "zeros": (lambda c: bytes(len(c)), f":1: ...; {AGAIN}"),
    "a terminal's escape": (
        swap(b"rope-1", b"\x1b[2Jrope-1"),
        ":2: run: '\\x1b[2Jrope-1-s0' holds characters that cannot be printed",
    ),
    "a line end within": (swap(b"rope-1", b'"ro\npe-1"'), f":3: ...; {AGAIN}"),
    "right to left": (
        swap(b"rope-1", "\u202erope-1".encode()),
        ":2: run: '\\u202erope-1-s0' holds characters that cannot be printed",
    ),
    "a quote": (swap(b"rope-1", b'"rope-1'), f":...; {AGAIN}"),
    "invalid UTF-8": (
        swap(b"mixture", b"mix\xffture"),
        f": cannot be read as text (UnicodeDecodeError); {AGAIN}",
    ),
    "UTF-16": (
        lambda c: c.decode().encode("utf-16"),
        f": cannot be read as text (UnicodeDecodeError); {AGAIN}",
    ),
    "a picture": (
        lambda c: b"\x89PNG\r\n\x1a\n" + bytes(200),
        f": cannot be read as text (UnicodeDecodeError); {AGAIN}",
    ),
    "packed": (
        lambda c: __import__("gzip").compress(c),
        f": cannot be read as text (UnicodeDecodeError); {AGAIN}",
    ),
    "a word for a number": (
        swap(b",2.5,", b",high,"),
        f":2: value: 'high' is not a number; {AGAIN}",
    ),
    "a fraction for a length": (
        swap(b",64,", b",64.5,"),
        f":2: train_length: '64.5' is not a whole number; {AGAIN}",
    ),
    "not a number": (
        swap(b",2.5,", b",nan,"),
        ":2: value: nan, where a missing number is an empty field",
    ),
    "digits of another script": (swap(b",2.5,", ",٢,".encode()), ":2: value: '٢' is not a number"),
    "an underscore": (swap(b",2.5,", b",2_5,"), ":2: value: '2_5' is not a number"),
    "a number too large": (
        swap(b",64,", b",9223372036854775808,"),
        ":2: train_length: 9223372036854775808 is too large",
    ),
    "more digits than are read": (
        swap(b",64,", b"," + b"9" * 5000 + b","),
        ":2: train_length: ...; " + AGAIN,
    ),
    "a field without end": (
        swap(b"rope-1", b"r" * 200_000),
        f":2: field larger than field limit (131072); {AGAIN}",
    ),
    "no value": (swap(b",2.5,", b",,"), ":2: value is empty, which only a diverged run may leave"),
    "no run": (swap(b"rope-1-s0", b""), ":2: run is empty"),
    "an unknown status": (
        swap(b",ok,", b",fine,"),
        ":2: status: 'fine' is none of ok, not trained, diverged",
    ),
    "an interval upside down": (
        swap(b",2.5,,,", b",2.5,3.0,2.0,"),
        ":2: low 3.0 lies above high 2.0",
    ),
    "the same row twice": (
        lambda c: c + c.splitlines(keepends=True)[-1],
        ":4: the same coordinates and metric as ...a.csv:3; delete",
    ),
}
"""What results/s/rows/a.csv may hold."""

VERSIONS: dict[str, tuple[bytes | Callable[[Path], object], str]] = {
    "later": (
        b'{"rows": 2}',
        "rows of version 2; this program reads and writes 1: use the program that wrote them, or",
    ),
    "of another kind": (b'{"rows": "one"}', "rows of version one; this program reads and writes 1"),
    "cut off": (b'{"rows": ', "damaged; delete it if these rows are of version 1"),
    "a list": (b"[]", "damaged; delete it if these rows are of version 1"),
    "nested deep": (b"[" * 99_999, "damaged; delete it if these rows are of version 1"),
    "binary": (b"\xff\xfe\0", "damaged; delete it if these rows are of version 1"),
    "a folder": (lambda path: path.mkdir(), "damaged; delete it if these rows are of version 1"),
    "a pipe": (os.mkfifo, "damaged; delete it if these rows are of version 1"),
}
"""What results/s/schema.json may be."""


def saved(content: Any) -> bytes:
    torch.save(content, out := io.BytesIO())
    return out.getvalue()


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return (
        content[:middle]
        + bytes(b ^ 0xFF for b in content[middle : middle + 64])
        + content[middle + 64 :]
    )


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


UNREADABLE = "not readable as tensors and plain values (...)"
WEIGHTS: dict[str, tuple[Callable[[dict], bytes], str]] = {
    "empty": (lambda w: b"", UNREADABLE),
    "text": (lambda w: b"weights", UNREADABLE),
    "cut off": (lambda w: saved(w)[:-500], UNREADABLE),
    "flipped bytes": (lambda w: flipped(saved(w)), "damaged in ...|not readable as tensors"),
    "a pickle of code": (lambda w: pickle.dumps(Call()), UNREADABLE),
    "code among the weights": (lambda w: saved(w | {"head.weight": Call()}), UNREADABLE),
    "code beside the weights": (lambda w: saved(w | {"more": Call()}), UNREADABLE),
    "members that overlap": (lambda w: overlapping(saved(w)), "holds more than the bytes"),
    "members that are packed": (
        lambda w: packed(saved(w)),
        "holds more than the bytes of its file",
    ),
    "memory for a number": (
        lambda w: saved(w | {"more": Memory()}),
        "not tensors and plain values alone",
    ),
    "a number": (lambda w: saved(3), "weights of another model"),
    "none": (lambda w: saved({}), "weights of another model"),
    "one missing": (lambda w: saved(without(w, "head.weight")), "weights of another model"),
    "one too many": (lambda w: saved(w | {"more": torch.zeros(1)}), "weights of another model"),
    "another shape": (
        lambda w: saved(w | {"head.weight": torch.zeros(3, 3)}),
        "head.weight is not of shape (577, 64)",
    ),
    "another kind of number": (
        lambda w: saved(w | {"head.weight": w["head.weight"].double()}),
        "head.weight is not of float32",
    ),
    "words": (lambda w: saved(w | {"head.weight": "heavy"}), "head.weight is not of shape"),
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
