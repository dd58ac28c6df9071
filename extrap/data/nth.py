"""The n-th of several records with one key: as training data and as a test.

    BOS  [text]  a 5  b 2  a 7  b 9  a 1   +2 a  7   -1 b  9

Every key of a scene has several records, each with another value. A mark chooses one of them, from
the start or from the end: +1 the first, +2 the second ..., -1 the last, -2 the one before ... A
model that finds the key alone has to guess among its records. MRCR (OpenAI,
huggingface.co/datasets/openai/mrcr; arXiv 2409.12640) in miniature: several similar needles, the
i-th of which is wanted. One sequence of 24 tokens, 2 keys of 3 records each, `_` a blank, k0, k1,
.. the marks +1, +2, .. and k15, k14, .. the marks -1, -2, ..:

    <bos> _ f k190 v40 k157 v47 k157 v31 k190 v62 k157 v58 k190 v19 k1 k157 v31 k13 k157 v47 k15
    k190 v19

In the words of a tokenizer the marks are ordinals, `second apple:`, and count from the start.
"""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Interval

from extrap.data.context import Context
from extrap.data.scene import Scene, SceneForm, ScenePart
from extrap.data.vocabulary import RecordLayout, Vocabulary
from extrap.utils.bounds import at_most
from extrap.utils.errors import UserError

MOST = 8
"""Records of a key at most: key ids 0 ... 7 are the marks +1 ... +8, 8 ... 15 are -8 ... -1."""
Copies = Annotated[int, Interval(ge=2, le=MOST)]
Places = Literal["drawn", "even"]


@dataclass(frozen=True)
class NthForm(SceneForm):
    """Several records with one key, told apart by their order.

    Args:
        copies: records of a key
        count: from the `start` or from the `end`
        places: of the records of the key that a test asks for, `drawn` for every trial, or spread
            evenly over all records, where the answer follows from mark and slot alone

    A test asks for the record of rank round(depth (copies - 1)).
    """

    copies: int = 5
    count: Literal["start", "end"] = "start"
    places: Places = "drawn"
    layout: RecordLayout = field(default=RecordLayout(), kw_only=True)

    code: ClassVar[int] = 60

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.layout.width

    @property
    def asking(self) -> int:  # type: ignore[override]
        return 1 + self.layout.query_width

    def keys(self, records: int) -> int:
        sizes = range(2, self.copies + 1)
        return 2 * MOST + max(records // c + records % c for c in sizes)

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        super().check(option, vocabulary, length)
        in_words = bool(self.layout.between)
        if in_words and (self.count == "end" or not getattr(vocabulary, "ordinals", 0)):
            problem = "the tokenizer has no word of one token for one of these counts"
            remedy = "try count=[start], which counts by first, second, ..."
            raise UserError(f"{option}.count", self.count, problem, remedy)
        most = min(self.records(length), vocabulary.values)
        why = f"for {length} tokens and data.vocabulary.values={vocabulary.values}"
        at_most(f"{option}.copies", self.copies, most, why)

    def scene(self, context: Context, records: int) -> Scene:
        rng, vocabulary = context.rng, context.vocabulary
        copies = int(rng.integers(2, min(self.copies, records) + 1))
        names, values = self._draw(context, records, copies)
        order = rng.permutation(records)
        groups = records // copies
        grouped = groups * copies
        of_key = values[:grouped].reshape(groups, copies)
        slots = np.argsort(order)[:grouped].reshape(groups, copies)
        in_order = np.take_along_axis(of_key, slots.argsort(1), 1)
        answers = np.concatenate([in_order, in_order], 1).reshape(-1, 1)
        marks = np.r_[:copies, 2 * MOST - copies : 2 * MOST]
        asked = names[:grouped:copies].repeat(2 * copies)
        tiled = np.tile(vocabulary.key(marks), groups)
        queries = np.concatenate([tiled[:, None], self.layout.queries(asked)], 1)
        placed = self.layout.records(names, values)[order]
        return Scene(placed, queries, answers, values[:, None])

    def tested(self, context: Context, records: int, depth: float) -> Scene:
        rng, vocabulary = context.rng, context.vocabulary
        names, values = self._draw(context, records, self.copies)
        pairs = self.layout.records(names, values)
        others = self.copies + rng.permutation(records - self.copies)
        if self.places == "drawn":
            at = np.sort(rng.permutation(records)[: self.copies])
        else:
            even = np.linspace(0, records - 1, self.copies)
            at = np.round(even).astype(int)
        placed = np.empty_like(pairs)
        placed[at] = pairs[: self.copies]
        placed[np.delete(np.arange(records), at)] = pairs[others]
        rank = round(depth * (self.copies - 1))
        mark = rank
        if self.count == "end":
            mark += 2 * MOST - self.copies
        asked = self.layout.queries(names[0])
        query = np.concatenate([[vocabulary.key(mark)], asked])
        answer = values[rank : rank + 1]
        return Scene(
            records=placed,
            queries=query[None],
            answers=answer[None],
            values=values[:, None],
            index=int(at[rank]),
        )

    @staticmethod
    def _draw(context: Context, records: int, copies: int) -> tuple[np.ndarray, np.ndarray]:
        """Draws keys and values of all records: records of one key are adjacent and have different
        values; records that are left over have a key each.
        """
        groups, left = divmod(records, copies)
        drawn = context.rng.permutation(context.vocabulary.keys - 2 * MOST)[: groups + left]
        keys = context.vocabulary.key(2 * MOST + drawn)
        values = context.distinct_values(groups, copies).ravel()
        others = context.values(left)
        counts = [copies] * groups + [1] * left
        return keys.repeat(counts), np.concatenate([values, others])

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        """Returns the accuracy of naming the value of any record of the key; all values differ."""
        return 1 / self.copies


@dataclass(frozen=True, kw_only=True)
class Nth(ScenePart):
    """Training sequences of several records with one key.

    Args:
        copies: records of a key at most; each scene draws its number from 2 to it
    """

    copies: Copies = 5

    @property
    def form(self) -> NthForm:
        return NthForm(self.copies)
