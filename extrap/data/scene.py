"""Scenes: records and questions about them, one description for training sequences and for tests.

    BOS  [text]  record record ... record   query answer  query answer ...     training: answers are
         scored
    BOS  [text]  record record ... record   query                              test: one question

A form says what records and questions look like; how they stand in a sequence is said here once.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.curriculum import Graded, counts
from extrap.data.text import windows
from extrap.data.trials.base import Form, OneQuestion
from extrap.data.vocabulary import RecordLayout, Vocabulary
from extrap.utils.errors import UserError


@dataclass(frozen=True)
class Scene:
    """records (n, w): tokens in their order; queries (q, u) and answers (q, a): of each question;
    values (v, a): what an answer may be confused with; index: of the record that question 0 is
    about.
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
    layout: ClassVar[RecordLayout] = RecordLayout()
    fewest: ClassVar[int] = 2
    """Records of a scene at least."""

    @property
    def saying(self) -> int:
        return 1

    def records(self, length: int) -> int:
        """As many as `length` tokens hold next to BOS and a question."""
        return max(0, (length - self.asking - self.saying) // self.width)

    @abstractmethod
    def keys(self, records: int) -> int:
        """Key ids that scenes of so many records need at most."""

    @abstractmethod
    def scene(self, rng: np.random.Generator, vocabulary: Vocabulary, records: int) -> Scene:
        """For training: any scene of so many records, all of its questions."""

    @abstractmethod
    def tested(
        self, rng: np.random.Generator, vocabulary: Vocabulary, records: int, depth: float
    ) -> Scene:
        """For a test: one question, about the record at a depth. What is drawn is the same at every
        depth, and `values` of the same shape in every scene.
        """

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        n = self.records(length)
        if n < self.fewest:
            least = self.fewest * self.width + self.asking + self.saying
            raise UserError(
                f"{option}: {length} tokens hold {n} records and a question, {self.fewest} are the "
                f"least; give lengths of {least} tokens or more"
            )
        if self.keys(n) > vocabulary.keys:
            raise UserError(
                f"data.vocabulary.keys={vocabulary.keys}: {option} needs {self.keys(n)} key ids "
                f"for {n} records in {length} tokens; raise it, or use shorter lengths"
            )

    def question(
        self,
        rng: np.random.Generator,
        vocabulary: Vocabulary,
        stream: np.ndarray,
        length: int,
        depth: float,
    ) -> OneQuestion:
        n = self.records(length)
        text = windows(rng, stream, 1, length - self.asking - self.saying - self.width * n)[0]
        scene = self.tested(rng, vocabulary, n, depth)
        asked = scene.queries[0], scene.answers[0, :-1]
        return OneQuestion(
            np.concatenate([[vocabulary.bos], text, scene.records.ravel(), *asked]),
            scene.answers[0],
            scene.values,
            scene.index,
            self.width * (n - scene.index) + self.asking - 1 - len(self.layout.between),
            self.asking + self.saying - 1,
        )


@dataclass(frozen=True, kw_only=True)
class ScenePart(Graded):
    """Training sequences of a form.

    Easy sequences hold a log-uniform number of records, hard ones a uniform number, and half of
    these a random amount of text in front, which puts records on every slot.

    Args:
        size: sequences per step
        weight: of the mean loss of their answers in the sum
    """

    size: int = 64
    weight: float = 2.0

    @property
    @abstractmethod
    def form(self) -> SceneForm:
        """What is asked."""

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        self.form.check(option, vocabulary, length)

    def draw(
        self,
        rng: np.random.Generator,
        stream: np.ndarray,
        vocabulary: Vocabulary,
        length: int,
        difficulty: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        form = self.form
        every = counts(rng, self.size, form.fewest, form.records(length), difficulty)
        sequences = np.empty((self.size, length + 1), np.int64)
        scored = np.zeros((self.size, length + 1), bool)
        each, slots = form.asking + form.saying, np.arange(length + 1)
        for row, score, n in zip(sequences, scored, every.tolist(), strict=True):
            room = length - each - form.width * n
            filler = int(rng.integers(room + 1)) if rng.random() < difficulty / 2 else 0
            text = windows(rng, stream, 1, filler)[0]
            scene = form.scene(rng, vocabulary, n)
            questions = np.concatenate([scene.queries, scene.answers], 1)
            which = rng.integers(len(questions), size=length)
            parts = [vocabulary.bos], text, scene.records.ravel(), questions[which].ravel()
            row[:] = np.concatenate(parts)[: length + 1]
            behind = slots - 1 - filler - form.width * n
            score[:] = (behind >= 0) & (behind % each >= form.asking)
        return sequences, scored[:, 1:]
