"""Key-value retrieval in text: JSON records, generated or read from a jsonl or jsonl.gz file as it
is published with arXiv 2307.03172, and the prompts they make.

The record asked for is taken out and put back at any index; the others keep their order. The words
of a prompt are our own, its layout follows the paper:

    Below is a JSON object. Find the key that is asked for and give the value that belongs to it.

    JSON data:
    {"6f0c...": "91aa...",
     "b2d4...": "07fe..."}

    Key: "b2d4..."
    Corresponding value:
"""

import json
import os
import uuid
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from extrap.data.corpora.reader import json_rows
from extrap.utils.errors import UserError

INSTRUCTION = (
    "Below is a JSON object. Find the key that is asked for and give the value that belongs to it."
)
Query = Literal["last", "both", "first"]
BETWEEN = ",\n "
"""Text between two records."""
CODE = 40  # keeps its random draws apart from the draws of other test sets
UUID = 36  # characters
FIELDS = ("ordered_kv_records", "key", "value")
LINE = '{"ordered_kv_records": [[key, value], ...], "key": key, "value": value}'


@dataclass(frozen=True)
class Example:
    """One example of key-value retrieval in text.

    Args:
        distractors: (key, value) pairs in their order, the gold record not among them
        key, value: of the gold record

    Keys and values are as they stand in the prompt between quotation marks: JSON has two letters
    for a backslash or a line break.
    """

    distractors: tuple[tuple[str, str], ...]
    key: str
    value: str

    @property
    def values(self) -> list[str]:
        """Returns every value of the context."""
        return [self.value, *(value for _, value in self.distractors)]

    def first(self, records: int) -> "Example":
        """Returns the same question about fewer records: the gold one and the first distractors."""
        return replace(self, distractors=self.distractors[: records - 1])

    def prompt(self, index: int, query: Query) -> tuple[str, int]:
        """Returns the prompt with the gold record at an index from 0, and the place of that record
        in characters.

        query: the question stands behind the data (last), on both sides of them (both, query-aware
        contextualisation), or in front of them alone (first).
        """
        pairs = list(self.distractors)
        pairs.insert(index, (self.key, self.value))
        records = [f'"{key}": "{value}"' for key, value in pairs]
        question = f'Key: "{self.key}"'
        before, behind = query in ("both", "first"), query in ("last", "both")
        front = f"{INSTRUCTION}\n\n" + f"{question}\n\n" * before + "JSON data:\n{"
        before_gold = [record + BETWEEN for record in records[:index]]
        at = len(front) + sum(map(len, before_gold))
        back = "}\n\n" + f"{question}\n" * behind + "Corresponding value:"
        return front + BETWEEN.join(records) + back, at


def most(characters: int) -> int:
    """Returns how many records `generate` can make of ids of so many characters: half of the ids
    stay free, so that drawing ends.
    """
    return 16 ** min(characters, 8) // 4


def generate(pairs: int, characters: int, seed: int, item: int) -> Example:
    """Draws example `item` of `pairs` records; keys and values are the first `characters` (1 ...
    36) of random UUIDs, all different.
    """
    rng = np.random.default_rng((seed, CODE, pairs, item))
    made: dict[str, None] = {}
    while len(made) < 2 * pairs:
        drawn = uuid.UUID(bytes=rng.bytes(16), version=4)
        made[str(drawn)[:characters]] = None
    names = list(made)
    records = tuple(zip(names[::2], names[1::2], strict=True))
    return Example(records[1:], *records[0])


def read(option: str, path: str, at_most: int) -> list[Example]:
    """Returns the first `at_most` examples of a file, all with the same number of records.

    Raises UserError, naming file and line, for a line of another format than LINE, for a key that
    occurs twice or not at all, and for another value than the record has.
    """
    file = Path(os.path.expanduser(path))
    examples = list[Example]()
    if not file.is_file():  # a pipe or a device would be read for ever
        remedy = "give a jsonl or jsonl.gz file, or null for generated records"
        raise UserError(option, path, "there is no such file", remedy)
    for place, row in islice(json_rows(file, option), at_most):
        try:
            examples.append(_example(row))
        except (TypeError, LookupError, ValueError):
            problem = f"expected {LINE}, every key once, the asked record among them"
            raise UserError(option, place, problem) from None
        if len(examples[-1].values) != (first := len(examples[0].values)):
            problem = f"{len(examples[-1].values)} records, but {first} in the first example"
            raise UserError(option, place, problem, "give every number a file of its own")
    if not examples:
        raise UserError(option, path, "the file holds no example", f"write lines as {LINE}")
    return examples


def _example(row: Any) -> Example:
    pairs, key, value = (row[name] for name in FIELDS)
    records = [(k, v) for k, v in pairs]
    known = dict(records)
    if known[key] != value or len(known) < len(records):
        raise ValueError("a key twice, or another value")
    for text in (*known, *known.values()):
        if not (isinstance(text, str) and text.encode()):  # half of a character has no bytes
            raise TypeError("no text")
    shown = {k: (_shown(k), _shown(v)) for k, v in records}
    gold = shown.pop(key)
    return Example((*shown.values(),), *gold)


def _shown(text: str) -> str:
    """Returns a text as JSON writes it between quotation marks."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
