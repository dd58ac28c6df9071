"""Grid of protocols, lengths and depths, one record of a context asked for in each cell."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.trials.base import DEPTHS, Form
from extrap.data.trials.dialogue import in_turns
from extrap.data.vocabulary import Vocabulary
from extrap.results.stats.intervals import depth_contrasts
from extrap.tasks.base import AtLengths, Counter, Model, Progress, Result
from extrap.tasks.scoring.answers import SEED, score
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.bounds import Count, Depths
from extrap.utils.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Grid(AtLengths):
    """multiples: evaluated lengths over the training length, 1 among them; depths: in [0, 1], with
    0, 1 and one in [.25, .75]; trials: of each protocol, length and depth; batch_tokens: tokens per
    forward, which changes speed and memory only.

    Rows, of every protocol by itself: accuracy, restricted and format of each depth with Wilson
    intervals; primacy, recency, u_depth, tilt and mid; gate, below 0.9 of which the rows of the
    protocol have the status `not trained`; guess and chance. Their meaning is that of
    extrap.tasks.kv. Items: accuracy of each trial, index and distance of each cell.
    """

    depths: Depths = DEPTHS
    trials: Count = 200
    batch_tokens: Count = 4096

    needs_one: ClassVar[str] = "the run learned it"
    within: ClassVar[bool] = True
    gate: ClassVar[str | None] = None
    """The protocol whose gate, and chance, are those of all; None where each has its own."""

    @abstractmethod
    def forms(self) -> dict[str, Form]:
        """The contexts that are asked about, by protocol."""

    def _written(self, vocabulary: Vocabulary) -> dict[str, Form]:
        return {
            name: in_turns(form.written(vocabulary.layout), vocabulary.turns)
            for name, form in self.forms().items()
        }

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        super().check(corpus, vocabulary, train_length)
        check_depths(self.option("depths"), self.depths)
        for form in self._written(vocabulary).values():
            for length in self.lengths(train_length):
                form.check(f"task.{self.name}", vocabulary, length)
        corpus.check("validation", max(self.lengths(train_length)))

    def run(
        self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress
    ) -> Result:
        forms = self._written(vocabulary)
        stream = corpus.stream("validation")
        ns = self.lengths(train_length)
        each = self.trials * len(self.depths)
        recorder, counter = Recorder(), Counter(progress, each * len(forms) * sum(ns))
        for n in ns:
            for protocol, form in forms.items():
                done = counter.done + each * n
                with recorder.at(protocol=protocol, length=n).within_range() as cells:
                    correct = []
                    for depth in self.depths:
                        questions = form.questions(
                            vocabulary, stream, SEED, n, depth, range(self.trials)
                        )
                        scores = score(model, questions, vocabulary, self.batch_tokens)
                        cells.at(depth=depth).answers(scores, questions.places)
                        correct.append(scores["accuracy"])
                        counter(n * self.trials)
                    cells.curve(np.stack(correct, 1), self.depths)
                    cells.value("guess", form.guess(vocabulary, n))
                    if n == self.gate_length(train_length) and self.gate in (None, protocol):
                        cells.share("gate", np.stack(correct, 1))
                counter.up_to(done)
        for protocol, form in forms.items():
            if self.gate is None:
                recorder.value("chance", form.chance(vocabulary), protocol=protocol)
        if self.gate is None:
            return recorder.by_gate()
        recorder.value("chance", forms[self.gate].chance(vocabulary))
        return recorder.result(bool(recorder.passed))


def check_depths(option: str, depths: Sequence[float]) -> None:
    """Raises UserError unless intervals.depth_contrasts can compare these."""
    try:
        depth_contrasts(depths)
    except ValueError:
        raise UserError(
            f"{option}: must hold 0, 1 and one in between from 0.25 to 0.75, which the summaries "
            "compare"
        ) from None
