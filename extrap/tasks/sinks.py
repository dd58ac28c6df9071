"""Sink ablation: what does retrieval lose once no token sees the first one?

    <form>          the context as it is
    <form>-first    the first token, BOS, is hidden from all others: what attention leaves there,
                    when it has nothing to read, has to go elsewhere
    <form>-other    control: a token of the middle is hidden, of another record or of the text

Only the mask of attention differs; contexts, coordinates and weights are the same, so that
differences are paired. Layers that own their attention (the delta rule) have no mask and stay as
they are; a model of nothing else has the first protocol alone. Sources: arXiv 2510.10276 (sinks
disrupted at test: primacy goes), arXiv 2309.17453 (attention sinks).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import MinLen
from torch import Tensor

from extrap.data.alias import AliasForm
from extrap.data.keyvalue import Padded, Records
from extrap.data.trials.base import DEPTHS, Form, Questions
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import AtLengths, Counter, Diagnostic, Inside, Progress, Result
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.retrieval import Exam, check_depths, curve
from extrap.utils.bounds import Count, Depths, Different, Multiples

Ask = Literal["records", "padded", "alias"]
FORMS: dict[Ask, Form] = {
    "records": Records(),
    "padded": Padded(8),
    "alias": AliasForm("one-hop"),
}
"""Those in which one record alone matters, so that hiding a token of another is a control: records
and padded (8 records) of extrap.tasks.kv, one-hop of extrap.tasks.alias."""


@dataclass(frozen=True, kw_only=True)
class SinkAblation(AtLengths, Diagnostic):
    """Accuracy by length and depth with and without the first token.

    multiples: evaluated lengths over the training length, 1 among them; depths: as in
    extrap.tasks.scoring.retrieval; trials: of each cell; ask: forms of retrieval, as far as the
    run was trained on them; batch_tokens: tokens per forward, which changes speed and memory only.
    Metrics:

    accuracy, restricted, format, primacy, recency, u_depth, tilt, mid    as in extrap.tasks.kv
    change     mean accuracy of -first and -other less that of the context as it is, paired by
               trial, t-interval over trials
    gate       accuracy of the context as it is, at the training length; below 0.9 all rows of the
               form have the status `not trained`
    guess, chance    as in extrap.tasks.kv

    Items: accuracy of each trial.
    """

    name: ClassVar[str] = "sinks"
    needs_one: ClassVar[str] = "the run learned it"

    multiples: Multiples = (1, 2)
    depths: Depths = DEPTHS
    trials: Count = 100
    ask: Annotated[Sequence[Ask], MinLen(1), Different()] = ("records", "padded")
    batch_tokens: Count = 4096

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        super().check(corpus, vocabulary, train_length)
        check_depths(self.option("depths"), self.depths)
        for form in self.ask:
            for length in self.lengths(train_length):
                FORMS[form].check(f"task.{self.name}", vocabulary, length)
        corpus.check("validation", max(self.lengths(train_length)))

    def run(
        self, model: Inside, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress
    ) -> Result:
        stream, ns = corpus.stream("validation"), self.lengths(train_length)
        readings = ("", "-first", "-other") if model.maskable else ("",)
        each = self.trials * len(self.depths) * len(readings)
        recorder, counter = Recorder(), Counter(progress, each * len(self.ask) * sum(ns))
        for n in ns:
            exam = Exam(model, vocabulary, stream, n, self.trials, self.batch_tokens, counter)
            for name in self.ask:
                found: dict[str, np.ndarray] = {}
                for reading in readings:
                    protocol = f"{name}{reading}"
                    with recorder.at(protocol=protocol, length=n).within_range() as cells:
                        scores = partial(_scores, exam, model, reading)
                        questions = partial(exam.questions, FORMS[name])
                        found[reading] = curve(cells, self.depths, questions, scores)
                        cells.value("guess", FORMS[name].guess(vocabulary, n))
                        if reading:
                            change = found[reading].mean(1) - found[""].mean(1)
                            cells.mean("change", change)
                        elif n == train_length:
                            cells.share("gate", found[""])
            counter.up_to(each * len(self.ask) * sum(m for m in ns if m <= n))
        passed = recorder.passed
        for name in self.ask:
            for reading in readings:
                chance = FORMS[name].chance(vocabulary)
                recorder.value("chance", chance, protocol=f"{name}{reading}")
        return recorder.result(lambda protocol: str(protocol).split("-")[0] in passed)


def _scores(exam: Exam, model: Inside, reading: str, questions: Questions) -> dict[str, np.ndarray]:
    """Returns the scores of the model; `-first` and `-other` hide one token from it."""
    if not reading:
        return exam.score(questions)
    slot = 0 if reading == "-first" else other_slot(questions)

    def hiding(tokens: Tensor, last: int) -> Tensor:
        return model.without(tokens, slot, last)

    return exam.score(questions, hiding)


def other_slot(questions: Questions) -> int:
    """Returns the slot next to the middle that holds no token of the asked record or the query."""
    length = questions.tokens.shape[1]
    gold = length - 1 - round(questions.distance)
    slots = [slot for slot in range(1, length - 2) if slot not in (gold, gold + 1)]
    return min(slots, key=lambda slot: abs(slot - length // 2))
