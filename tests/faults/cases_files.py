"""Damaged and hostile files that hold text, and what is said of each: {name: (files, options, what
the line says)}.

Files lie in the folder worked in: bytes, or what makes them. In what is said, `...` stands for
anything.
"""

import gzip
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

Files = dict[str, bytes | Callable[[Path], object]]
Case = tuple[Files, list[str], str]

TEXT = b"".join(b"line %d of some text, %d words long\n" % (i, i * 7919 % 1000) for i in range(400))
LINES = [json.dumps({"text": f"row {i} " * 40, "n": i}).encode() for i in range(40)]


def corpus(path: str, *more: str) -> list[str]:
    return [f"data.corpus.path={path}", *more]


def parquet(**columns: list) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), out := io.BytesIO())
    return out.getvalue()


def at(path: str) -> str:
    return f"data.corpus.path={path}: not readable as"


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
WHERE = "give an existing text file, a folder of text files or a pattern"

CORPORA: dict[str, Case] = {
    "no such file": (
        {},
        corpus("none.txt"),
        f"data.corpus.path=none.txt: no such file or folder; {WHERE}",
    ),
    "no such pattern": (
        {"a.md": TEXT},
        corpus("'*.txt'"),
        f"data.corpus.path=*.txt: no such file or folder; {WHERE}",
    ),
    "an empty file": ({"a.txt": b""}, corpus("a.txt"), f"data.corpus.path=a.txt: empty; {WHERE}"),
    "a folder without files": ({"a": folder}, corpus("a"), f"data.corpus.path=a: empty; {WHERE}"),
    "a folder of hidden files": (
        {"a/.b.txt": TEXT, "a/.git/c.txt": TEXT},
        corpus("a"),
        f"data.corpus.path=a: empty; {WHERE}",
    ),
    "a folder of empty files": (
        {"a/b.txt": b"", "a/c.txt": b""},
        corpus("a"),
        f"data.corpus.path=a: empty; {WHERE}",
    ),
    "a link to itself": (
        {"a.txt": link("a.txt")},
        corpus("a.txt"),
        f"data.corpus.path=a.txt: no such file or folder; {WHERE}",
    ),
    "links in a ring": (
        {"a": link("b"), "b": link("a")},
        corpus("a"),
        f"data.corpus.path=a: no such file or folder; {WHERE}",
    ),
    "a folder with a link to itself": (
        {"a/b": link("../a")},
        corpus("a"),
        f"data.corpus.path=a: only a link to a folder (b), which is not followed; {WHERE}",
    ),
    "a link to nothing": (
        {"a.txt": link("none")},
        corpus("a.txt"),
        f"data.corpus.path=a.txt: no such file or folder; {WHERE}",
    ),
    "a pipe": (
        {"a.txt": pipe},
        corpus("a.txt"),
        f"data.corpus.path=a.txt: a pipe or a device; {WHERE}",
    ),
    "a pipe in a folder": (
        {"a/b.txt": pipe},
        corpus("a"),
        f"data.corpus.path=a: only a pipe or a device (b.txt); {WHERE}",
    ),
    "a device": (
        {},
        corpus("/dev/zero"),
        f"data.corpus.path=/dev/zero: a pipe or a device; {WHERE}",
    ),
    "a name too long": (
        {},
        corpus("a" * 5000),
        "data.corpus.path=aaa...: longer than names of files may be; give a shorter one",
    ),
    "a folder too deep": (
        {},
        corpus("a/" * 3000),
        "data.corpus.path=a/a...: longer than names of files may be; give a shorter one",
    ),
    "invalid UTF-8": (
        {"a.txt": b"\xff\xfe" + TEXT},
        corpus("a.txt"),
        f"{at('...a.txt')} text (...utf-8...); choose files",
    ),
    "UTF-16": (
        {"a.txt": TEXT.decode().encode("utf-16")},
        corpus("a.txt"),
        f"{at('...a.txt')} text (...); choose files with a pattern",
    ),
    "a picture": (
        {"a.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20},
        corpus("a.png"),
        f"{at('...a.png')} text",
    ),
    "one bad file among good ones": (
        {"a/1.txt": TEXT, "a/2.txt": b"\xc3(", "a/3.txt": TEXT},
        corpus("a"),
        f"{at('a/2.txt')} text",
    ),
    "too little text": (
        {"a.txt": b"a few words"},
        corpus("a.txt"),
        "data.corpus.path=a.txt: no text for ...; give more documents",
    ),
    "text for one split": (
        {"a.txt": b"x" * 3000},
        corpus("a.txt"),
        "data.corpus.path=a.txt: no text for ...; give more documents",
    ),
    "text shorter than a window": (
        {f"a/{i}.txt": b"ab" for i in range(20)},
        corpus("a"),
        "data.corpus.path=a: ... train tokens, fewer than one window of 64; give more",
    ),
    "documents too short": (
        {"a.txt": TEXT},
        corpus("a.txt", "data.corpus.document_tokens=100"),
        (
            "data.corpus.path=a.txt: 0 validation documents have 256 tokens or more, twice the "
            "longest length 128 of task.nll.multiples; task.nll.documents=4 are asked for: "
            "raise data.corpus.document_tokens=100, which cuts longer ones, or ask for shorter ones"
        ),
    ),
    "gz that is not": (
        {"a.txt.gz": TEXT},
        corpus("a.txt.gz"),
        f"{at('a.txt.gz')} text (Not a gzipped file",
    ),
    "gz cut off": (
        {"a.txt.gz": gzip.compress(os.urandom(3000))[:-900]},
        corpus("a.txt.gz"),
        f"{at('a.txt.gz')} text",
    ),
    "gz with flipped bytes": (
        {"a.txt.gz": gzip.compress(TEXT)[:60] + b"\xaa" * 40 + gzip.compress(TEXT)[100:]},
        corpus("a.txt.gz"),
        f"{at('a.txt.gz')} text",
    ),
    "jsonl that is not": (
        {"a.jsonl": b"not JSON\nat all\n"},
        corpus("a.jsonl"),
        f"{at('a.jsonl:1')} json",
    ),
    "jsonl cut off": (
        {"a.jsonl": b"\n".join(LINES)[:-9]},
        corpus("a.jsonl"),
        f"{at('a.jsonl:40')} json",
    ),
    "jsonl of numbers": ({"a.jsonl": b"1\n2\n3\n"}, corpus("a.jsonl"), "data.corpus...a.jsonl"),
    "jsonl of lists": ({"a.jsonl": b'["a"]\n["b"]\n'}, corpus("a.jsonl"), "data.corpus...a.jsonl"),
    "jsonl of zeros": ({"a.jsonl": bytes(999)}, corpus("a.jsonl"), f"{at('a.jsonl:1')} json"),
    "jsonl in another encoding": (
        {"a.jsonl": b'{"text": "\xff\xfe"}\n'},
        corpus("a.jsonl"),
        f"{at('a.jsonl:1')} json",
    ),
    "jsonl nested deep": (
        {"a.jsonl": b'{"text": "a", "x": ' + DEEP + b"}\n"},
        corpus("a.jsonl"),
        "data.corpus.path=a.jsonl:1: nested deeper than 100 brackets",
    ),
    "jsonl nested deep at its end": (
        {"a.jsonl": b"\n".join([*LINES, b'{"a":' * 3000 + b"1" + b"}" * 3000])},
        corpus("a.jsonl"),
        "data.corpus.path=a.jsonl:41: nested deeper",
    ),
    "json nested deep over lines": (
        {"a.json": b"[\n" * 3000},
        corpus("a.json"),
        "data.corpus.path=a.json:101: nested deeper than 100",
    ),
    "jsonl.gz nested deep": (
        {"a.jsonl.gz": gzip.compress(DEEP)},
        corpus("a.jsonl.gz"),
        "data.corpus.path=a.jsonl.gz:1: nested deeper",
    ),
    "jsonl.gz cut off": (
        {"a.jsonl.gz": gzip.compress(b"\n".join(LINES))[:-30]},
        corpus("a.jsonl.gz"),
        f"{at('a.jsonl.gz:37')} json",
    ),
    "a line without end": (
        {"a.jsonl": huge},
        corpus("a.jsonl"),
        "data.corpus.path=a.jsonl:1: a line of more than 64 MiB; give one record a line",
    ),
    "a line of quotes that close nothing": (
        {"a.jsonl": b'\\"' * 2**21},
        corpus("a.jsonl"),
        f"{at('a.jsonl:1')} json",
    ),
    "an honest line cut off": (
        {"a.jsonl": b'{"text": "' + b'he said \\"no\\" ' * 2**18},
        corpus("a.jsonl"),
        f"{at('a.jsonl:1')} json",
    ),
    "a file of eight terabytes without one": (
        {"a.txt": sparse},
        corpus("a.txt"),
        "data.corpus.path=a.txt: 8,192 GiB in one document, and this machine has ",
    ),
    "no column of that name": (
        {"a.jsonl": b"\n".join(LINES)},
        corpus("a.jsonl", "data.corpus.column=body"),
        "data.corpus.column=body: no text of that name in a.jsonl:1; its columns of text: text",
    ),
    "a column of numbers": (
        {"a.jsonl": b"\n".join(LINES)},
        corpus("a.jsonl", "data.corpus.column=n"),
        "data.corpus.column=n: 0.0 is no text in a.jsonl:1; its columns of text: text",
    ),
    "a text missing in one row": (
        {"a.jsonl": b"\n".join([*LINES, b'{"n": 41}'])},
        corpus("a.jsonl"),
        "data.corpus.column=text: no text of that name in a.jsonl",
    ),
    "parquet that is not": (
        {"a.parquet": b"PAR1" + bytes(99) + b"PAR1"},
        corpus("a.parquet"),
        f"{at('a.parquet')} parquet",
    ),
    "parquet cut off": (
        {"a.parquet": parquet(text=["abc" * 50] * 99)[:-40]},
        corpus("a.parquet"),
        f"{at('a.parquet')} parquet",
    ),
    "parquet with flipped bytes": (
        {
            "a.parquet": parquet(text=["abc" * 50] * 99)[:8]
            + b"\xff" * 60
            + parquet(text=["abc" * 50] * 99)[68:]
        },
        corpus("a.parquet"),
        f"{at('a.parquet')} parquet",
    ),
    "parquet of numbers": (
        {"a.parquet": parquet(n=[1, 2])},
        corpus("a.parquet"),
        "data.corpus.column=text: no text of that name",
    ),
    "parquet without rows": (
        {"a.parquet": parquet(text=[])},
        corpus("a.parquet"),
        "data.corpus.path=a.parquet: ...",
    ),
    "parquet of lists": (
        {"a.parquet": parquet(text=[["a"], ["b"]])},
        corpus("a.parquet"),
        "data.corpus.column=text: ['a'] is no text in a.parquet:1; its columns of text: none",
    ),
}

READ_ONLY_TO_ROOT: dict[str, Case] = {
    "text of somebody else": (
        {"a.txt": locked},
        corpus("a.txt"),
        "data.corpus.path=a.txt: not readable as text (...ermission...",
    ),
    "a table of somebody else": ({"a.jsonl": locked}, corpus("a.jsonl"), "a.jsonl: no permission"),
}

RECORD = {"ordered_kv_records": [["a", "1"], ["b", "2"]], "key": "a", "value": "1"}


def records(*lines: dict | bytes) -> bytes:
    return b"\n".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines
    )


RECORDS: dict[str, tuple[bytes | Callable[[Path], object] | None, str]] = {
    "none": (
        None,
        (
            "cannot be read (No such file or directory); give a jsonl or jsonl.gz file, or null "
            "for generated records"
        ),
    ),
    "a folder": (folder, "cannot be read"),
    "a pipe": (pipe, "cannot be read (not a file"),
    "empty": (
        b"",
        "no example in it; every line is a JSON object with ordered_kv_records, key, value",
    ),
    "gz cut off": (
        gzip.compress(records(RECORD) * 50)[:-20],
        "cannot be read (damaged); give a jsonl",
    ),
    "not JSON": (b"key, value\n", "1: no JSON"),
    "nested deep": (DEEP, "1: no JSON"),
    "a list": (b"[1, 2]", "1: not a JSON object with ordered_kv_records, key, value"),
    "no key": (
        records({"ordered_kv_records": [["a", "1"]], "value": "1"}),
        "1: key is missing; a line has ordered_kv_records, key, value",
    ),
    "a key twice": (
        records(RECORD | {"ordered_kv_records": [["a", "1"], ["a", "2"]]}),
        "1: key 'a' stands in two records",
    ),
    "a key of none": (records(RECORD | {"key": "z"}), "1: key 'z' is in none of the records"),
    "another value": (
        records(RECORD, RECORD | {"value": "2"}),
        "2: value '2' is not that of its record, '1'",
    ),
    "numbers": (
        records(RECORD | {"ordered_kv_records": [[1, 2]]}),
        "1: ordered_kv_records must be a list of [key, value], both text",
    ),
    "other numbers of records": (
        records(RECORD, RECORD | {"ordered_kv_records": [["a", "1"]]}),
        "2: 1 records, but 2 in the first example; give every number a file",
    ),
    "a line without end": (huge, "a line of more than 64 MiB"),
}
"""What task.lost-in-the-middle.path may lead to."""

TOKENIZERS: dict[str, tuple[bytes | Callable[[Path], object] | None, str]] = {
    "none": (
        None,
        "no such file; give a tokenizer.json, a folder that holds one, or a name on the hub",
    ),
    "a pipe": (pipe, "no such file; give a tokenizer.json"),
    "empty": (b"", "no tokenizer.json of Hugging Face (..."),
    "not JSON": (TEXT, "no tokenizer.json of Hugging Face (..."),
    "another JSON": (b'{"version": "1.0", "model": 3}', "no tokenizer.json of Hugging Face (..."),
    "invalid UTF-8": (b"\xff\xfe{}", "no tokenizer.json of Hugging Face (..."),
    "nested deep": (DEEP, "no tokenizer.json of Hugging Face (..."),
    "without tokens": (
        b'{"version": "1.0", "model": {"type": "WordLevel", "vocab": {}, "unk_token": "x"}}',
        "...has no tokens|...no tokenizer.json",
    ),
}
"""What data.vocabulary.tokenizer may lead to."""
