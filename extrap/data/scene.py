"""Scenes: records and questions about them, one description for training sequences and for tests.

    BOS  [text]  record record ... record   query answer  query answer ...     training: answers are
         scored
    BOS  [text]  record record ... record   query                              test: one question

A form defines what records and questions look like; this file places them in a sequence.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.context import Context
from extrap.data.curriculum import Graded, counts
from extrap.data.part import Drawn, answered, stacked
from extrap.data.trials.base import FEWEST, Form, Questions, check_records
from extrap.data.vocabulary import RecordLayout, Vocabulary


@dataclass(frozen=True)
class Scene:
    """The tokens of records and questions.

    Args:
        records: (n, w) tokens in their order
        queries: (q, u) of each question
        answers: (q, a) of each question
        values: (v, a) the candidates for an answer
        index: of the record of question 0
    """

    records: np.ndarray
    queries: np.ndarray
    answers: np.ndarray
    values: np.ndarray
    index: int = 0


class SceneForm(Form):
    """A form whose records have `width` tokens, queries `asking` and answers `saying`."""

    width: ClassVar[int]
    asking: ClassVar[int] = 1
    saying: ClassVar[int] = 1
    layout: ClassVar[RecordLayout] = RecordLayout()

    def records(self, length: int) -> int:
        """Returns how many `length` tokens hold next to BOS and a question."""
        return max(0, (length - self.asking - self.saying) // self.width)

    @abstractmethod
    def keys(self, records: int) -> int:
        """Returns how many key ids a scene of so many records needs at most."""

    @abstractmethod
    def scene(self, context: Context, records: int) -> Scene:
        """Draws a training scene of so many records with all of its questions."""

    @abstractmethod
    def tested(self, context: Context, records: int, depth: float) -> Scene:
        """Draws a test scene: one question, about the record at a depth. The draws are the same at
        every depth, and `values` has one shape in all scenes.
        """

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        n = self.records(length)
        check_records(option, length, n)
        why = f"for {n} records of {option} in {length} tokens"
        vocabulary.check_keys(self.keys(n), why)

    def question(self, context: Context, depth: float) -> Questions:
        n = self.records(context.length)
        text = context.text(context.length - self.asking - self.saying - self.width * n)
        scene = self.tested(context, n, depth)
        records = scene.records.ravel()
        query, answer = scene.queries[0], scene.answers[0]
        return Questions(
            tokens=context.sequence(text, records, query, answer[:-1]),
            answers=answer,
            values=scene.values,
            index=scene.index,
            distance=self.width * (n - scene.index) + self.asking - 1 - len(self.layout.between),
            tail=self.asking + self.saying - 1,
        )


@dataclass(frozen=True, kw_only=True)
class ScenePart(Graded):
    """Training sequences of a form.

    Easy sequences hold a log-uniform number of records, hard ones a uniform number, and half of
    these a random amount of text in front, which puts records on every slot.
    """

    @property
    @abstractmethod
    def form(self) -> SceneForm:
        """The form of the sequences."""

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        self.form.check(option, vocabulary, length)

    def draw(self, context: Context, difficulty: float) -> Drawn:
        records = self.form.records(context.length)
        every = counts(context.rng, self.size, FEWEST, records, difficulty)
        rows = (self._row(context, n, difficulty) for n in every.tolist())
        return stacked(rows, context.length)

    def _row(self, context: Context, n: int, difficulty: float) -> Drawn:
        """Returns one sequence with n records, and where its answers are."""
        form, rng, length = self.form, context.rng, context.length
        room = length - form.asking - form.saying - form.width * n
        filled = rng.random() < difficulty / 2
        text = context.text(int(rng.integers(room + 1)) if filled else 0)
        scene = form.scene(context, n)
        questions = np.concatenate([scene.queries, scene.answers], 1)
        asked = questions[rng.integers(len(questions), size=length)]
        front = context.sequence(text, scene.records.ravel())
        return answered(front, asked, form.saying)
