"""Questions about all of a context, none of which any one place answers: as training data and as a
test.

    BOS  [text]  2 0 1 1 0 1 ...   M 1   H 0   C0 6   C1 ...     labels, then questions

    majority     M       the label that stands most often
    first-half   H       the label that stands most often in the first half, rounded down
    count        C<y>    how often label y stands, modulo `modulus`

Labels are value ids 0 ... labels - 1, counts the value ids after them; M, H, C0, C1, .. are key
ids. The label that is asked for is the only one that stands so often. Sources: aggregation of RULER
(arXiv 2404.06654) and OOLONG (arXiv 2511.02817) in miniature. One sequence of 24 tokens, 12 of 4
labels, counts modulo 4, `_` a blank, k0 the mark M, k1 H, k3 C1:

    <bos> _ b r v0 v3 v3 v3 v0 v3 v3 v2 v3 v3 v3 v0 k0 v3 k1 v3 k1 v3 k3 v4
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Annotated, ClassVar, Literal, get_args

import numpy as np
from annotated_types import Interval

from extrap.data.context import Context
from extrap.data.scene import Scene, SceneForm, ScenePart
from extrap.data.trials.base import Questions
from extrap.data.vocabulary import Vocabulary
from extrap.utils.bounds import at_most

Kind = Literal["majority", "first-half", "count"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MAJORITY, HALF, COUNT = range(3)  # key ids; from COUNT on one for each label
Few = Annotated[int, Interval(ge=2, le=32)]


@dataclass(frozen=True)
class AggregateForm(SceneForm):
    """Questions about all labels of a context.

    Args:
        labels: number of different labels
        modulus: of counts
        kind: of the question in a test

    Every question is about the whole context, so depth changes nothing.
    """

    labels: int = 4
    modulus: int = 4
    kind: Kind = "majority"

    code: ClassVar[int] = 62
    width: ClassVar[int] = 1

    def keys(self, records: int) -> int:
        return COUNT + self.labels

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        super().check(option, vocabulary, length)
        most = max(0, vocabulary.values - self.modulus)
        why = f"as {option}.modulus={self.modulus} leaves of {vocabulary.values} value ids"
        at_most(f"{option}.labels", self.labels, most, why)

    def scene(self, context: Context, records: int) -> Scene:
        labels = self._draw(context.rng, records, (MAJORITY, HALF))
        return self._scene(context.vocabulary, labels, range(COUNT + self.labels))

    def tested(self, context: Context, records: int, depth: float) -> Scene:
        mark = KINDS.index(self.kind)
        labels = self._draw(context.rng, records, (mark,))
        mark += int(context.rng.integers(self.labels)) if mark == COUNT else 0
        return self._scene(context.vocabulary, labels, [mark])

    def _draw(self, rng: np.random.Generator, n: int, marks: tuple[int, ...]) -> np.ndarray:
        """Draws n labels, again until the question of each mark has one answer."""
        while True:
            labels = rng.integers(self.labels, size=n)
            if all(self._answer(labels, mark) >= 0 for mark in marks):
                return labels

    def _answer(self, labels: np.ndarray, mark: int) -> int:
        """Returns the number of the answer's value; -1 if two labels are the most frequent."""
        if mark >= COUNT:
            count = int((labels == mark - COUNT).sum())
            return self.labels + count % self.modulus
        part = labels[: len(labels) // 2] if mark == HALF else labels
        often = np.bincount(part, minlength=self.labels)
        most_frequent = np.flatnonzero(often == often.max())
        return int(most_frequent[0]) if len(most_frequent) == 1 else -1

    def _scene(self, vocabulary: Vocabulary, labels: np.ndarray, marks: Sequence[int]) -> Scene:
        answers = np.array([self._answer(labels, mark) for mark in marks])
        candidates = np.arange(self.labels)
        if self.kind == "count":
            candidates = self.labels + np.arange(self.modulus)
        return Scene(
            records=vocabulary.value(labels)[:, None],
            queries=vocabulary.key(np.array(marks))[:, None],
            answers=vocabulary.value(answers)[:, None],
            values=vocabulary.value(candidates)[:, None],
        )

    def uncounted(self, questions: Questions) -> float:
        """Returns the expected accuracy, on these questions, of naming the label of a random place
        (of first-half: in that half); of count, the accuracy of always saying the count that is
        most frequent.
        """
        length = questions.tokens.shape[1]
        if self.kind == "count":
            return self.most_frequent(length)
        labels = questions.tokens[:, -1 - self.records(length) : -1]
        part = labels[:, : labels.shape[1] // 2] if self.kind == "first-half" else labels
        return float((part == questions.answers).mean())

    def most_frequent(self, length: int) -> float:
        """Returns the accuracy of always saying the most frequent answer: 1 / labels; of count
        max_r sum_(j = r mod m) C(n, j) p^j (1 - p)^(n - j), p = 1 / labels, n labels.
        """
        if self.kind != "count":
            return 1 / self.labels
        n = self.records(length)
        others = self.labels - 1
        ways = [comb(n, j) * others ** (n - j) for j in range(n + 1)]
        by_count = [sum(ways[r :: self.modulus]) for r in range(self.modulus)]
        return max(by_count) / self.labels**n


@dataclass(frozen=True, kw_only=True)
class Aggregate(ScenePart):
    """Training sequences with all kinds of questions.

    Args:
        labels, modulus: as in AggregateForm
    """

    labels: Few = 4
    modulus: Few = 4

    @property
    def form(self) -> AggregateForm:
        return AggregateForm(self.labels, self.modulus)
