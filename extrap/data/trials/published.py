"""Records of key-value retrieval as they are published with arXiv 2307.03172, read from a jsonl
file or a jsonl.gz file.
"""

import os
from itertools import islice
from pathlib import Path
from typing import Any

from extrap.data.corpora.reader import json_rows
from extrap.data.trials.json_prompt import Example
from extrap.utils.errors import UserError

FIELDS = ("ordered_kv_records", "key", "value")
LINE = '{"ordered_kv_records": [[key, value], ...], "key": key, "value": value}'


def read(option: str, path: str, at_most: int) -> list[Example]:
    """Returns the first `at_most` examples of a file, all with the same number of records.

    Raises UserError, naming file and line, for a line of another format than LINE, for a key that
    occurs twice or not at all, and for another value than the record has.
    """
    file, examples = Path(os.path.expanduser(path)), list[Example]()
    if not file.is_file():  # a pipe or a device would be read for ever
        remedy = "give a jsonl or jsonl.gz file, or null for generated records"
        raise UserError(option, path, "there is no such file", remedy)
    for place, row in islice(json_rows(file, option), at_most):
        try:
            examples.append(_example(row))
        except (TypeError, LookupError, ValueError):
            raise UserError(
                option, place, f"expected {LINE}, every key once, the asked record among them"
            ) from None
        if len(examples[-1].values) != (first := len(examples[0].values)):
            raise UserError(
                option,
                place,
                f"{len(examples[-1].values)} records, but {first} in the first example",
                "give every number a file of its own",
            )
    if not examples:
        raise UserError(option, path, "the file holds no example", f"write lines as {LINE}")
    return examples


def _example(row: Any) -> Example:
    pairs, key, value = (row[name] for name in FIELDS)
    records = [(k, v) for k, v in pairs]
    known = dict(records)
    if known[key] != value or len(known) < len(records):
        raise ValueError("a key twice, or another value")
    for text in (text for pair in known.items() for text in pair):
        if not (isinstance(text, str) and text.encode()):  # half of a character has no bytes
            raise TypeError("no text")
    return Example(tuple(pair for pair in records if pair[0] != key), key, value)
