"""Records of key-value retrieval as they are published with arXiv 2307.03172, read from a file that
may be packed with gzip.

A line is one example: {"ordered_kv_records": [[key, value], ...], "key": key, "value": value}.
"""

import errno
import gzip
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from extrap.data.trials.json_prompt import Example
from extrap.utils.errors import UserError
from extrap.utils.untrusted import check_unpacked

LONGEST = 2**26  # bytes of a line
FIELDS = ("ordered_kv_records", "key", "value")


def read(option: str, path: str, at_most: int) -> list[Example]:
    """Returns the first `at_most` examples of a jsonl or jsonl.gz file, all with the same number of
    records.

    Raises UserError, naming file and line, for a line of another format: missing fields, no
    records, a key that occurs twice or not at all, another value than the record has.
    """
    examples: list[Example] = []
    for number, line in enumerate(_lines(f"{option}={path}", Path(os.path.expanduser(path))), 1):
        if not line.strip():
            continue
        try:
            examples.append(_example(line))
            if len(examples[-1].values) != (first := len(examples[0].values)):
                raise ValueError(
                    f"{len(examples[-1].values)} records, but {first} in the first example; give "
                    "every number a file of its own"
                )
        except ValueError as error:
            raise UserError(option, f"{path}:{number}", error) from None
        if len(examples) == at_most:
            break
    if not examples:
        raise UserError(
            option,
            path,
            "the file holds no example",
            f"write every line as a JSON object with {', '.join(FIELDS)}",
        )
    return examples


def _lines(where: str, path: Path) -> Iterator[bytes]:
    try:
        if path.exists() and not path.is_file():  # a pipe or a device would be read for ever
            raise IsADirectoryError(errno.EISDIR, "not a file")
        with open(path, "rb") as plain:
            packed = plain.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if packed else open(path, "rb") as file:
            while line := file.readline(LONGEST + 1):
                if packed:
                    check_unpacked(file, path, where)
                if len(line) > LONGEST:
                    raise UserError(
                        where,
                        problem=f"the line has more than {LONGEST // 2**20} MiB",
                        remedy="write one example per line",
                    )
                yield line
    except (OSError, EOFError, zlib.error, ValueError) as error:
        why = getattr(error, "strerror", None) or "damaged"
        raise UserError(
            where,
            problem=f"extrap cannot read this file ({why})",
            remedy="give a jsonl or jsonl.gz file, or null for generated records",
        ) from None


def _example(line: bytes) -> Example:
    """Returns the example of a line. Raises ValueError with the mistake in the line."""
    try:
        found = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise ValueError("no JSON") from None
    if not isinstance(found, dict):
        raise ValueError(f"not a JSON object with {', '.join(FIELDS)}")
    if missing := [name for name in FIELDS if name not in found]:
        raise ValueError(f"{missing[0]} is missing; a line has {', '.join(FIELDS)}")
    records, key, value = (found[name] for name in FIELDS)
    if not isinstance(records, list) or not all(
        isinstance(r, list) and len(r) == 2 and all(map(_is_text, r)) for r in records
    ):
        raise ValueError(
            "ordered_kv_records must be a list of [key, value], both text that is not empty"
        )
    if not records:
        raise ValueError("ordered_kv_records is empty; at least the record asked for must be in it")
    known: dict[str, str] = {}
    for k, v in records:
        if k in known:
            raise ValueError(f"key {k!r:.60} stands in two records")
        known[k] = v
    if not _is_text(key) or key not in known:
        raise ValueError(f"key {key!r:.60} is in none of the records")
    if value != known[key]:
        raise ValueError(f"value {value!r:.60} is not that of its record, {known[key]!r:.60}")
    return Example(tuple((k, v) for k, v in records if k != key), key, value)


def _is_text(found: Any) -> bool:
    """True for text that is not empty and can be written as UTF-8."""
    return (
        isinstance(found, str) and bool(found) and not any("\ud800" <= c <= "\udfff" for c in found)
    )
