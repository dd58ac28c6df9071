"""One question, asked after the records, before and after, or before alone: the same records on the
same slots in all three.

    last    BOS  t  k v ... K V ... k v  t    K        answer  V
    both    BOS  K  k v ... K V ... k v  t    K        answer  V
    first   BOS  K  k v ... K V ... k v  BOS           answer  K V

t is a token of running text; where the length is odd, one more stands before the records. The
records, their order, the text and the distance to the query are the same in all forms, so that
forms are compared question by question. Source: arXiv 2307.03172, sections 3.1 (last) and 4.2
(both). The training data: extrap.data.query.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.keyvalue import check_keys
from extrap.data.query import most_asked_first
from extrap.data.text import windows
from extrap.data.trials.base import Form, OneQuestion
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError

FORMS = ("last", "both", "first")


@dataclass(frozen=True)
class QueryForm(Form):
    """Raises ValueError for a form that is none of last, both, first."""

    code: ClassVar[int] = 2

    form: str

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ValueError(f"form={self.form}: one of {', '.join(FORMS)}")

    def records(self, length: int) -> int:
        return most_asked_first(length)

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        if self.records(length) < 2:
            raise UserError(
                f"{option}: {length} tokens hold no two records next to two queries; give at "
                "least 8 tokens"
            )
        check_keys(vocabulary, self.records(length), length)

    def question(
        self,
        rng: np.random.Generator,
        vocabulary: Vocabulary,
        stream: np.ndarray,
        length: int,
        depth: float,
    ) -> OneQuestion:
        n = self.records(length)
        index = round(depth * (n - 1))
        keys = vocabulary.key(rng.permutation(vocabulary.keys)[:n])
        values = vocabulary.value(rng.integers(vocabulary.values, size=n))
        text = windows(rng, stream, 1, 3)[0]
        asked = np.array([keys[0], values[0]])
        others = np.stack([keys[1:], values[1:]], 1).ravel()
        front = text[0] if self.form == "last" else keys[0]
        end = vocabulary.bos if self.form == "first" else text[1]
        head = [vocabulary.bos, front, *text[2 : 2 + length % 2]]
        return OneQuestion(
            np.array([*head, *np.insert(others, 2 * index, asked), end, keys[0]]),
            asked if self.form == "first" else asked[1:],
            values[:, None],
            index,
            2 * (n - index) + 1,
        )

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        by_luck = (
            0 if self.form == "first" else 1 / vocabulary.values
        )  # there the key has to be right as well
        return 1 / self.records(length) + (1 - 1 / self.records(length)) * by_luck

    def chance(self, vocabulary: Vocabulary) -> float:
        return super().chance(vocabulary) / (vocabulary.keys if self.form == "first" else 1)
