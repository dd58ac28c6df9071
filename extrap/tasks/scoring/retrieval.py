"""Questions with a right answer: protocols at several lengths, each with a gate; and the grid of
depths that most of them share.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch

from extrap.data.trials.base import DEPTHS, Form, Questions
from extrap.data.trials.dialogue import in_turns
from extrap.data.vocabulary import Vocabulary
from extrap.results.stats.intervals import depth_contrasts
from extrap.tasks.base import AtLengths, Counter, Model, Progress, Result, batches
from extrap.tasks.scoring.answers import SEED, score
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.bounds import Count, Depths
from extrap.utils.errors import UserError


@dataclass(frozen=True)
class Exam:
    """A model and the material of its questions at one length; it counts the tokens read."""

    model: Model
    vocabulary: Vocabulary
    stream: np.ndarray
    length: int
    trials: int
    batch_tokens: int
    counter: Callable[[int], None]

    def questions(self, form: Form, depth: float = 0) -> Questions:
        """Returns a question of every trial, the same for every run."""
        return form.questions(
            self.vocabulary, self.stream, SEED, self.length, depth, range(self.trials)
        )

    def score(self, questions: Questions, model: Model | None = None) -> dict[str, np.ndarray]:
        """Returns {metric: (trials,)} of answers.score; model: one in its place."""
        found = score(model or self.model, questions, self.vocabulary, self.batch_tokens)
        self.counter(questions.tokens.size)
        return found

    @torch.no_grad()
    def read(self, tokens: np.ndarray, last: int) -> Iterator[torch.Tensor]:
        """Yields the logits (B, last, vocab) at the end of each of these tokens (n, T)."""
        for rows in batches(len(tokens), tokens.shape[1], self.batch_tokens):
            yield self.model(torch.from_numpy(tokens[rows]), last=last)
            self.counter(tokens[rows].size)


@dataclass(frozen=True, kw_only=True)
class Retrieval(AtLengths):
    """Protocols at several lengths, each of trials with right answers.

    multiples: evaluated lengths over the training length, 1 among them; trials: of each protocol
    and length; batch_tokens: tokens per forward, which changes speed and memory only. Every
    protocol has the rows of its `measure`, a gate at the training length, below 0.9 of which its
    rows have the status `not trained`, and its chance.
    """

    trials: Count = 200
    batch_tokens: Count = 4096

    needs_one: ClassVar[str] = "the run learned it"
    gate: ClassVar[str | None] = None
    """The protocol whose gate, and chance, are those of all; None if each has its own."""

    @abstractmethod
    def forms(self) -> Mapping[str, Any]:
        """Returns the contexts of every protocol."""

    @abstractmethod
    def measure(self, cells: Recorder, form: Any, exam: Exam) -> np.ndarray:
        """Records one protocol at one length; returns which answers are right, (trials, questions).

        form: as `forms` has it, in the layout of the vocabulary.
        """

    def cost(self, form: Any, length: int) -> int:
        """Returns the tokens that `measure` reads."""
        return self.trials * length

    def chances(self, forms: Mapping[str, Any], vocabulary: Vocabulary) -> dict[str, float]:
        """Returns the accuracy of naming an answer at random, by protocol; of all by ""."""
        if self.gate is not None:
            return {"": forms[self.gate].chance(vocabulary)}
        return {protocol: form.chance(vocabulary) for protocol, form in forms.items()}

    def written(self, vocabulary: Vocabulary) -> dict[str, Any]:
        """Returns `forms` in the layout and the turns of a vocabulary."""
        return dict(self.forms())

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        super().check(corpus, vocabulary, train_length)
        for form in self.written(vocabulary).values():
            self.check_form(form, vocabulary, self.lengths(train_length))
        corpus.check("validation", max(self.lengths(train_length)))

    def check_form(self, form: Any, vocabulary: Vocabulary, lengths: list[int]) -> None:
        """Raises UserError, naming the option, for a length at which a form has no questions."""
        for length in lengths:
            form.check(f"task.{self.name}", vocabulary, length)

    def run(
        self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress
    ) -> Result:
        forms, stream = self.written(vocabulary), corpus.stream("validation")
        plan = [(n, protocol) for n in self.lengths(train_length) for protocol in forms]
        cost = [self.cost(forms[protocol], n) for n, protocol in plan]
        recorder, counter = Recorder(), Counter(progress, sum(cost))
        for at, (n, protocol) in enumerate(plan):
            exam = Exam(model, vocabulary, stream, n, self.trials, self.batch_tokens, counter)
            with recorder.at(protocol=protocol, length=n).within_range() as cells:
                correct = self.measure(cells, forms[protocol], exam)
                if n == self.gate_length(train_length) and self.gate in (None, protocol):
                    cells.share("gate", correct)
            counter.up_to(sum(cost[: at + 1]))
        for protocol, chance in self.chances(forms, vocabulary).items():
            recorder.value("chance", chance, **({"protocol": protocol} if protocol else {}))
        return recorder.by_gate() if self.gate is None else recorder.result(bool(recorder.passed))


@dataclass(frozen=True, kw_only=True)
class Grid(Retrieval):
    """One record of a context is asked for, at every depth of a grid.

    depths: in [0, 1], with 0, 1 and one in [.25, .75]; trials: of each protocol, length and depth;
    the other options: Retrieval. Rows of every protocol: accuracy, restricted and format of each
    depth with Wilson intervals; primacy, recency, u_depth, tilt and mid; gate, guess and chance.
    Their meaning is that of extrap.tasks.kv. Items: accuracy of each trial, index and distance of
    each cell.
    """

    depths: Depths = DEPTHS

    within: ClassVar[bool] = True

    def cost(self, form: Any, length: int) -> int:
        return len(self.depths) * super().cost(form, length)

    def written(self, vocabulary: Vocabulary) -> dict[str, Form]:
        return {
            name: in_turns(form.written(vocabulary.layout), vocabulary.turns)
            for name, form in self.forms().items()
        }

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        check_depths(self.option("depths"), self.depths)
        super().check(corpus, vocabulary, train_length)

    def measure(self, cells: Recorder, form: Form, exam: Exam) -> np.ndarray:
        cells.value("guess", form.guess(exam.vocabulary, exam.length))
        return curve(cells, self.depths, partial(exam.questions, form), exam.score)


def curve(
    cells: Recorder,
    depths: Sequence[float],
    questions: Callable[[float], Questions],
    scores: Callable[[Questions], dict[str, np.ndarray]],
    distances: bool = False,
) -> np.ndarray:
    """Records the answers at every depth and the summaries of their curve; returns which are right,
    (trials, depths). distances: whether the cell of a depth has its distance as an axis.
    """
    correct = []
    for depth in depths:
        found = questions(depth)
        hits = scores(found)
        cell = cells.at(depth=depth)
        if distances:
            cell = cell.at(axis="distance", at=found.distance)
        cell.answers(hits, found.places)
        correct.append(hits["accuracy"])
    cells.curve(np.stack(correct, 1), depths)
    return np.stack(correct, 1)


def check_depths(option: str, depths: Sequence[float]) -> None:
    """Raises UserError unless intervals.depth_contrasts can compare these."""
    try:
        depth_contrasts(depths)
    except ValueError:
        raise UserError(
            option,
            problem="the summaries compare depths 0, 1 and one from 0.25 to 0.75",
            remedy="add the one that is missing",
        ) from None
