"""Key-value retrieval in text: JSON records and the prompts they make, generated here or read by
extrap.data.trials.published.

The record asked for is taken out and put back at any index; the others keep their order. The words
of a prompt are our own, its layout follows arXiv 2307.03172:

    Below is a JSON object. Find the key that is asked for and give the value that belongs to it.

    JSON data:
    {"6f0c...": "91aa...",
     "b2d4...": "07fe..."}

    Key: "b2d4..."
    Corresponding value:
"""

import json
import uuid
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

INSTRUCTION = (
    "Below is a JSON object. Find the key that is asked for and give the value that belongs to it."
)
Query = Literal["last", "both", "first"]
CODE = 40  # keeps the random draws apart from those of other test sets
UUID = 36  # characters


@dataclass(frozen=True)
class Example:
    """distractors: (key, value) pairs in their order, the gold record not among them; key, value:
    of the gold record.
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
        pairs = [*self.distractors[:index], (self.key, self.value), *self.distractors[index:]]
        records = [json.dumps(dict([pair]), ensure_ascii=False)[1:-1] for pair in pairs]
        question = f"Key: {json.dumps(self.key, ensure_ascii=False)}"
        before, behind = query in ("both", "first"), query in ("last", "both")
        front = f"{INSTRUCTION}\n\n" + f"{question}\n\n" * before + "JSON data:\n{"
        at = len(front) + sum(len(record) + len(",\n ") for record in records[:index])
        back = "}\n\n" + f"{question}\n" * behind + "Corresponding value:"
        return front + ",\n ".join(records) + back, at


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
        made[str(uuid.UUID(bytes=rng.bytes(16), version=4))[:characters]] = None
    names = list(made)
    records = tuple(zip(names[::2], names[1::2], strict=True))
    return Example(records[1:], *records[0])
