"""Key-value retrieval with the query after the records, around them, or before them alone: as
training data and as a test of query-aware contextualisation.

    last    BOS  t        k v  k v ... k v   t    q v  q v ...
    both    BOS  q ... q  k v  k v ... k v   t    q v  q v ...    t one token of text
    first   BOS  q ... q  k v  k v ... k v   BOS  q v  q v ...

Training (both and first) asks several keys, so that a sequence has several answers, and scores the
v of the queries; of `first` also the first q after the second BOS: nothing at the end says which
key is asked, so the model writes the key down, then its value. (To name the value at once takes a
third layer where positions are relative: the first layer tells which of the keys is asked, the
second its value.) The same queries then come again, not scored.

A test asks one key: the answer is V, of `first` K V. Records, their order, the text and the
distance to the query are the same in all three forms, so that forms are compared question by
question; if the length is odd, one more token of text stands before the records. Source: arXiv
2307.03172, sections 3.1 (last) and 4.2 (both). One training sequence of `first`, 2 of 8 records
asked:

    <bos> k193 k225 k7 v41 k86 v24 k63 v21 k193 v24 k156 v45 k173 v32 k225 v1 k209 v1 <bos> k193 v24
    k225 v1
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.context import Context
from extrap.data.curriculum import Graded, counts
from extrap.data.keyvalue import check_keys
from extrap.data.part import Drawn, Size, Weight, stacked
from extrap.data.trials.base import FEWEST, Form, Questions, check_records
from extrap.data.vocabulary import Vocabulary
from extrap.utils.bounds import Share

FORMS = ("last", "both", "first")


@dataclass(frozen=True, kw_only=True)
class Query(Graded):
    """Training sequences with the asked keys in front.

    Args:
        first: share of `first`, the others are `both`

    Easy: a log-uniform number of records in [2, length // 2 - 2]; hard: a uniform one. The number
    of asked keys is uniform from 1 to the room for it, at most the number of records; it moves the
    records over odd and even slots.
    """

    size: Size = 16
    weight: Weight = 1.0
    first: Share = 0.5

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        QueryForm("both").check(option, vocabulary, length)

    def draw(self, context: Context, difficulty: float) -> Drawn:
        most = QueryForm("both").records(context.length)
        every = counts(context.rng, self.size, FEWEST, most, difficulty)
        cues = context.texts(self.size, 1)[:, 0]
        rows = [self._row(context, n, cue) for n, cue in zip(every, cues, strict=True)]
        return stacked(rows, context.length)

    def _row(self, context: Context, n: int, cue: int) -> Drawn:
        """Returns one sequence of n records; cue: the token after the records of `both`."""
        rng = context.rng
        bos = context.vocabulary.bos
        length = context.length
        pairs = np.stack([context.keys(n), context.values(n)], 1)
        room = max(1, (length - 1 - 2 * n) // 3)
        order = rng.permutation(n)
        asked = pairs[order[: rng.integers(1, room + 1)]]
        first = rng.random() < self.first
        end = bos if first else cue
        queries = np.resize(asked, (length, 2)).ravel()
        row = np.concatenate([[bos], asked[:, 0], pairs.ravel(), [end], queries])
        start = 2 + len(asked) + 2 * n  # of the queries
        answers = np.zeros(len(row), bool)
        answers[start] = first
        answers[start + 1 : start + 1 + 2 * len(asked) : 2] = True
        return row, answers


@dataclass(frozen=True)
class QueryForm(Form):
    """A test context with the query in one of the three places.

    Args:
        form: last, both or first
    """

    code: ClassVar[int] = 2

    form: str

    def records(self, length: int) -> int:
        """Returns how many fit next to BOS, a key before them, the token after them and a query."""
        return length // 2 - 2

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        check_records(option, length, self.records(length))
        check_keys(vocabulary, self.records(length), length)

    def question(self, context: Context, depth: float) -> Questions:
        length = context.length
        bos = context.vocabulary.bos
        n = self.records(length)
        index = round(depth * (n - 1))
        keys = context.keys(n)
        values = context.values(n)
        text = context.text(3)
        asked = np.array([keys[0], values[0]])
        others = np.stack([keys[1:], values[1:]], 1).ravel()
        records = np.insert(others, 2 * index, asked)
        first = self.form == "first"
        front = text[0] if self.form == "last" else keys[0]
        end = bos if first else text[1]
        odd = text[2 : 2 + length % 2]
        return Questions(
            tokens=np.array([bos, front, *odd, *records, end, keys[0]]),
            answers=asked if first else asked[1:],
            values=values[:, None],
            index=index,
            distance=2 * (n - index) + 1,
        )

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        if self.form == "first":  # the key has to be right as well, so that no value is luck
            return 1 / self.records(length)
        return super().guess(vocabulary, length)

    def chance(self, vocabulary: Vocabulary) -> float:
        return super().chance(vocabulary) / (vocabulary.keys if self.form == "first" else 1)
