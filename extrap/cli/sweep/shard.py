"""Shards of a sweep: `--shard 3/100` runs about a hundredth of the jobs, so that any queue that
starts one command N times shares the work.

A hash of its words puts a job into a shard: if a sweep grows, its first jobs stay where they are.
Shards are therefore unequal: of as many as there are jobs over a third is empty.
The extensions and tasks of one run are in one shard, which trains the run once.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from extrap.utils.errors import UserError

FLAG = "--shard"
APART = re.compile(r"\+*(extension|task)[=.@]")
"""Words in which jobs of one run differ."""


@dataclass(frozen=True)
class Shard:
    """One part of the jobs of a sweep, of `of` parts of about the same size.

    Args:
        index: from 1 to `of`, or from 0 to `of` - 1: `of` / `of` and 0 / `of` are the same shard
    """

    index: int
    of: int

    def holds(self, words: Sequence[str]) -> bool:
        """True if the job of these words belongs to the shard."""
        named = sorted(word for word in words if not APART.match(word))
        number = int.from_bytes(hashlib.sha256("\0".join(named).encode()).digest())
        return number % self.of == self.index % self.of


def taken(words: Sequence[str]) -> tuple[list[str], Shard | None]:
    """Returns a command line without its shard, and the shard. Raises UserError for a shard that
    is none, and for a second one.
    """
    rest: list[str] = []
    given: list[str] = []
    left = iter(words)
    for word in left:
        if word == FLAG:
            given.append(next(left, ""))
        elif word.startswith(f"{FLAG}="):
            given.append(word.partition("=")[2])
        else:
            rest.append(word)
    if len(given) > 1:
        raise UserError(FLAG, given[1], "a second shard", "give one; each command runs its own")
    return rest, _read(given[0]) if given else None


def _read(text: str) -> Shard:
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    index, of = map(int, match.groups()) if match else (1, 0)
    if index > of or of < 1:
        remedy = "give --shard 1/100 to 100/100, or 0/100 to 99/100"
        raise UserError(FLAG, text, "expected a number and how many there are", remedy)
    return Shard(index, of)
