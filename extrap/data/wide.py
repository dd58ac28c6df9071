"""Key-value retrieval with keys and values of several tokens: as training data and as a test.

    BOS  text   k k v v  k k v v ...   k k v v  k k v v ...      w = 2; queries follow the records,
                                                                 the v of the queries are scored

Keys are w key ids out of a small pool, so that records share tokens. A model that matches the last
token of a key alone, which a small model learns first, has to guess among the records with the same
end. The answer is all w tokens of the value. A UUID of Lost in the Middle (arXiv 2307.03172) is
such a key; one id for each makes retrieval easy to learn. One sequence of 24 tokens, 3 records, w =
2:

    <bos> k5 k13 v40 v5 k7 k2 v11 v47 k9 k0 v3 v43 k7 k2 v11 v47 k9 k0 v3 v43 k9 k0 v3
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval

from extrap.data.context import Context
from extrap.data.part import Drawn, answered
from extrap.data.scene import ScenePart
from extrap.data.trials.base import Form, Questions, check_records, guess
from extrap.data.vocabulary import Vocabulary
from extrap.utils.bounds import Several, at_most
from extrap.utils.errors import UserError

WIDEST = 8
MOST = 2**20  # keys that are shuffled for every sequence


def draw_records(context: Context, n: int, width: int, pool: int) -> np.ndarray:
    """Draws n records (n, 2 width): different keys from the first `pool` key ids, then values."""
    places = context.rng.permutation(pool**width)[:n]
    keys = np.stack(np.unravel_index(places, (pool,) * width), 1)
    values = context.values(n, width)
    return np.concatenate([context.vocabulary.key(keys), values], 1)


@dataclass(frozen=True)
class WideForm(Form):
    """Records with keys and values of several tokens.

    Args:
        width: tokens of a key and of a value
        pool: key ids that keys are made of

    Text fills the front of a context.
    """

    code: ClassVar[int] = 3

    width: int
    pool: int

    def records(self, length: int) -> int:
        return max(0, (length - 2 * self.width) // (2 * self.width))

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        most = min(vocabulary.keys, int(MOST ** (1 / self.width) + 1e-9))
        why = f"for data.vocabulary.keys={vocabulary.keys} and pool^width up to {MOST}"
        at_most(f"{option}.pool", self.pool, most, why)
        n = self.records(length)
        keys = self.pool**self.width
        check_records(f"{option}.width", length, n)
        if n > keys:
            problem = f"it makes {keys} keys for {n} records in {length} tokens"
            remedy = "give a larger one, or use shorter lengths"
            raise UserError(f"{option}.pool", self.pool, problem, remedy)

    def question(self, context: Context, depth: float) -> Questions:
        n = self.records(context.length)
        w = self.width
        index = round(depth * (n - 1))
        records = draw_records(context, n, w, self.pool)
        text = context.text(context.length - 2 * w * (n + 1))
        placed = np.insert(records[1:], index, records[0], 0)
        return Questions(
            tokens=context.sequence(text, placed.ravel(), records[0, :-1]),
            answers=records[0, w:],
            values=records[:, w:],
            index=index,
            distance=2 * w * (n - index),
        )

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        return guess(self.records(length), vocabulary.values**self.width)

    def chance(self, vocabulary: Vocabulary) -> float:
        return float(vocabulary.values) ** -self.width


@dataclass(frozen=True, kw_only=True)
class Wide(ScenePart):
    """Training sequences of wide records.

    Args:
        width, pool: as in WideForm
    """

    width: Annotated[int, Interval(ge=1, le=WIDEST)] = 2
    pool: Several = 16

    @property
    def form(self) -> WideForm:
        return WideForm(self.width, self.pool)

    def _row(self, context: Context, n: int, difficulty: float) -> Drawn:
        """Returns one sequence with n records, and where its answers are."""
        rng, w = context.rng, self.width
        records = draw_records(context, n, w, self.pool)
        room = context.length - 2 * w * (n + 1)
        filled = rng.random() < difficulty / 2
        filler = int(rng.integers(room + 1)) if filled else 0
        asked = records[rng.integers(n, size=context.length)]
        text = context.text(filler)
        front = context.sequence(text, records.ravel())
        return answered(front, asked, w)
