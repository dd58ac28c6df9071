"""Damaged and hostile files that hold text: {name: (files, options, the option of the message where
it is not data.corpus.path)}.

Files lie in the working folder: bytes, or what makes them.
"""

import gzip
import io
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


def parquet(**columns: list) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), out := io.BytesIO())
    return out.getvalue()


def patched(content: bytes, at: int, new: bytes) -> bytes:
    return content[:at] + new + content[at + len(new) :]


def link(target: str) -> Callable[[Path], object]:
    return lambda path: path.symlink_to(target)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def locked(path: Path) -> None:
    path.write_bytes(TEXT)
    path.chmod(0)


def huge(path: Path) -> None:
    """One line of zeros."""
    with open(path, "wb") as file:
        file.truncate(2**26 + 9)


def sparse(path: Path) -> None:
    """Zeros that take no room on the disk."""
    with open(path, "wb") as file:
        file.truncate(2**43)


DEEP = b"[" * 5000 + b"]" * 5000
DEEP_OBJECT = b'{"a":' * 3000 + b"1" + b"}" * 3000

CORPORA: dict[str, Case] = {
    "no such file": ({}, corpus("none.txt")),
    "no such pattern": ({"a.md": TEXT}, corpus("'*.txt'")),
    "an empty file": one("a.txt", b""),
    "a folder without files": ({"a": folder}, corpus("a")),
    "a folder of hidden files": ({"a/.b.txt": TEXT, "a/.git/c.txt": TEXT}, corpus("a")),
    "a folder of empty files": ({"a/b.txt": b"", "a/c.txt": b""}, corpus("a")),
    "a link to itself": one("a.txt", link("a.txt")),
    "links in a ring": ({"a": link("b"), "b": link("a")}, corpus("a")),
    "a folder with a link to itself": ({"a/b": link("../a")}, corpus("a")),
    "a link to nothing": one("a.txt", link("none")),
    "a pipe": one("a.txt", pipe),
    "a pipe in a folder": ({"a/b.txt": pipe}, corpus("a")),
    "a device": ({}, corpus("/dev/zero")),
    "a name too long": ({}, corpus("a" * 5000)),
    "a folder too deep": ({}, corpus("a/" * 3000)),
    "invalid UTF-8": one("a.txt", b"\xff\xfe" + TEXT),
    "UTF-16": one("a.txt", TEXT.decode().encode("utf-16")),
    "one bad file among good ones": (
        {"a/1.txt": TEXT, "a/2.txt": b"\xc3(", "a/3.txt": TEXT},
        corpus("a"),
    ),
    "too little text": one("a.txt", b"a few words"),
    "text for one split": one("a.txt", b"x" * 3000),
    "text shorter than a window": ({f"a/{i}.txt": b"ab" for i in range(20)}, corpus("a")),
    "documents too short": ({"a.txt": TEXT}, corpus("a.txt", "data.corpus.document_tokens=100")),
    "gz that is not": one("a.txt.gz", TEXT),
    "gz cut off": one("a.txt.gz", gzip.compress(os.urandom(3000))[:-900]),
    "gz with flipped bytes": one("a.txt.gz", patched(gzip.compress(TEXT), 60, b"\xaa" * 40)),
    "jsonl that is not": one("a.jsonl", b"not JSON\nat all\n"),
    "jsonl cut off": one("a.jsonl", b"\n".join(LINES)[:-9]),
    "jsonl of numbers": one("a.jsonl", b"1\n2\n3\n", option=COLUMN),
    "jsonl of lists": one("a.jsonl", b'["a"]\n["b"]\n'),
    "jsonl of zeros": one("a.jsonl", bytes(999)),
    "jsonl in another encoding": one("a.jsonl", b'{"text": "\xff\xfe"}\n'),
    "jsonl nested deep": one("a.jsonl", b'{"text": "a", "x": ' + DEEP + b"}\n"),
    "jsonl nested deep at its end": one("a.jsonl", TABLE + b"\n" + DEEP_OBJECT),
    "json nested deep over lines": one("a.json", b"[\n" * 3000),
    "jsonl.gz nested deep": one("a.jsonl.gz", gzip.compress(DEEP)),
    "jsonl.gz cut off": one("a.jsonl.gz", gzip.compress(TABLE)[:-30]),
    "a line without end": one("a.jsonl", huge),
    "a line of quotes that close nothing": one("a.jsonl", b'\\"' * 2**21),
    "an honest line cut off": one("a.jsonl", b'{"text": "' + b'he said \\"no\\" ' * 2**18),
    "a file of eight terabytes without one": one("a.txt", sparse),
    "no column of that name": one("a.jsonl", TABLE, f"{COLUMN}=body", option=COLUMN),
    "a column of numbers": one("a.jsonl", TABLE, f"{COLUMN}=n", option=COLUMN),
    "a text missing in one row": one("a.jsonl", TABLE + b'\n{"n": 41}', option=COLUMN),
    "parquet that is not": one("a.parquet", b"PAR1" + bytes(99) + b"PAR1"),
    "parquet cut off": one("a.parquet", parquet(text=["abc" * 50] * 99)[:-40]),
    "parquet with flipped bytes": one(
        "a.parquet", patched(parquet(text=["abc" * 50] * 99), 8, b"\xff" * 60)
    ),
    "parquet of numbers": one("a.parquet", parquet(n=[1, 2]), option=COLUMN),
    "parquet without rows": one("a.parquet", parquet(text=[])),
    "parquet of lists": one("a.parquet", parquet(text=[["a"], ["b"]]), option=COLUMN),
}

READ_ONLY_TO_ROOT: dict[str, Case] = {
    "text of somebody else": one("a.txt", locked),
    "a table of somebody else": ({"a.jsonl": locked}, corpus("a.jsonl"), "a.jsonl"),
}

RECORD = {"ordered_kv_records": [["a", "1"], ["b", "2"]], "key": "a", "value": "1"}


def records(*lines: dict | bytes) -> bytes:
    return b"\n".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines
    )


RECORDS: dict[str, bytes | Callable[[Path], object] | None] = {
    "none": None,
    "a folder": folder,
    "a pipe": pipe,
    "empty": b"",
    "gz cut off": gzip.compress(records(RECORD) * 50)[:-20],
    "not JSON": b"key, value\n",
    "nested deep": DEEP,
    "a list": b"[1, 2]",
    "no key": records({"ordered_kv_records": [["a", "1"]], "value": "1"}),
    "a key twice": records(RECORD | {"ordered_kv_records": [["a", "1"], ["a", "2"]]}),
    "a key of none": records(RECORD | {"key": "z"}),
    "another value": records(RECORD, RECORD | {"value": "2"}),
    "numbers": records(RECORD | {"ordered_kv_records": [[1, 2]]}),
    "other numbers of records": records(RECORD, RECORD | {"ordered_kv_records": [["a", "1"]]}),
    "a line without end": huge,
}
"""What task.lost-in-the-middle.path may lead to."""

TOKENIZERS: dict[str, bytes | Callable[[Path], object] | None] = {
    "none": None,
    "a pipe": pipe,
    "empty": b"",
    "not JSON": TEXT,
    "another JSON": b'{"version": "1.0", "model": 3}',
    "invalid UTF-8": b"\xff\xfe{}",
    "nested deep": DEEP,
    "without tokens": b'{"version": "1.0", "model": '
    b'{"type": "WordLevel", "vocab": {}, "unk_token": "x"}}',
}
"""What data.vocabulary.tokenizer may lead to."""
