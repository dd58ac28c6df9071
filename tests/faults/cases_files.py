"""Damaged and hostile files that hold text: {name: (files, options, the option of the message where
it is not data.corpus.path)}.

Files lie in the working folder: bytes, or what makes them.
"""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

Files = dict[str, bytes | Callable[[Path], object]]
Case = tuple[Files, list[str]] | tuple[Files, list[str], str]
PATH, COLUMN = "data.corpus.path", "data.corpus.column"

TEXT = b"".join(b"line %d of some text, %d words long\n" % (i, i * 7919 % 1000) for i in range(400))
LINES = [json.dumps({"text": f"row {i} " * 40, "n": i}).encode() for i in range(40)]
TABLE = b"\n".join(LINES)


def corpus(path: str, *more: str) -> list[str]:
    return [f"data.corpus.path={path}", *more]


def one(
    path: str, content: bytes | Callable[[Path], object], *more: str, option: str = PATH
) -> Case:
    return {path: content}, corpus(path, *more), option


def pipe(path: Path) -> None:
    os.mkfifo(path)


def huge(path: Path) -> None:
    """One line of zeros."""
    with open(path, "wb") as file:
        file.truncate(2**26 + 9)


def sparse(path: Path) -> None:
    """Zeros that take no room on the disk."""
    with open(path, "wb") as file:
        file.truncate(2**43)


DEEP = b"[" * 5000 + b"]" * 5000

CORPORA: dict[str, Case] = {
    "no such file": ({}, corpus("none.txt")),
    "an empty file": one("a.txt", b""),
    "a folder of hidden files": ({"a/.b.txt": TEXT, "a/.git/c.txt": TEXT}, corpus("a")),
    "a pipe in a folder": ({"a/b.txt": pipe}, corpus("a")),
    "a device": ({}, corpus("/dev/zero")),
    "a name too long": ({}, corpus("a" * 5000)),
    "one bad file among good ones": (
        {"a/1.txt": TEXT, "a/2.txt": b"\xc3(", "a/3.txt": TEXT},
        corpus("a"),
    ),
    "text for one split": one("a.txt", b"x" * 3000),
    "gz that is not": one("a.txt.gz", TEXT),
    "gz cut off": one("a.txt.gz", gzip.compress(os.urandom(3000))[:-900]),
    "jsonl that is not": one("a.jsonl", b"not JSON\nat all\n"),
    "jsonl nested deep": one("a.jsonl", b'{"text": "a", "x": ' + DEEP + b"}\n"),
    "a line without end": one("a.jsonl", huge),
    "a file of eight terabytes without one": one("a.txt", sparse),
    "no column of that name": one("a.jsonl", TABLE, f"{COLUMN}=body", option=COLUMN),
    "a column of numbers": one("a.jsonl", TABLE, f"{COLUMN}=n", option=COLUMN),
    "parquet that is not": one("a.parquet", b"PAR1" + bytes(99) + b"PAR1"),
}

RECORD = {"ordered_kv_records": [["a", "1"], ["b", "2"]], "key": "a", "value": "1"}


def records(*lines: dict | bytes) -> bytes:
    return b"\n".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines
    )


RECORDS: dict[str, bytes | Callable[[Path], object] | None] = {
    "none": None,
    "a pipe": pipe,
    "gz cut off": gzip.compress(records(RECORD) * 50)[:-20],
    "not JSON": b"key, value\n",
    "a list": b"[1, 2]",
    "no key": records({"ordered_kv_records": [["a", "1"]], "value": "1"}),
    "a key twice": records(RECORD | {"ordered_kv_records": [["a", "1"], ["a", "2"]]}),
    "a key of none": records(RECORD | {"key": "z"}),
    "another value": records(RECORD, RECORD | {"value": "2"}),
    "numbers": records(RECORD | {"ordered_kv_records": [[1, 2]]}),
    "other numbers of records": records(RECORD, RECORD | {"ordered_kv_records": [["a", "1"]]}),
}
"""What task.lost-in-the-middle.path may lead to."""

TOKENIZERS: dict[str, bytes | Callable[[Path], object] | None] = {
    "none": None,
    "a pipe": pipe,
    "not JSON": TEXT,
    "invalid UTF-8": b"\xff\xfe{}",
    "without tokens": b'{"version": "1.0", "model": '
    b'{"type": "WordLevel", "vocab": {}, "unk_token": "x"}}',
}
"""What data.vocabulary.tokenizer may lead to."""
