"""The serial position curve: retrieval accuracy at every index of the asked record, first to last.

Contexts come from the protocol `records` of extrap.tasks.kv: full of records, one of them moved
from place to place, the others and their order the same at every index. A grid of depths shows a
curve at seven places; ends that are one record wide, and holes between the places, show here.
Source of the layout: arXiv 2307.03172.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.keyvalue import Records
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.retrieval import Exam, Retrieval
from extrap.utils.bounds import Count, Multiples


@dataclass(frozen=True, kw_only=True)
class KVSerial(Retrieval):
    """Accuracy, restricted and format of every index, on the axis `index` from 0, with Wilson
    intervals; gate, guess and chance.

    Args:
        trials: of each index

    The other options: extrap.tasks.scoring.retrieval.

    Costs trials * length^2 / 2 tokens for each length. Items: accuracy of each trial, named
    index:i.
    """

    name: ClassVar[str] = "kv-serial"
    gate: ClassVar[str | None] = "records"

    multiples: Multiples = (1, 2)
    trials: Count = 100

    def forms(self, vocabulary) -> dict[str, Records]:
        return {"records": Records()}

    def cost(self, form: Records, length: int) -> int:
        return form.records(length) * super().cost(form, length)

    def measure(self, cells: Recorder, form: Records, exam: Exam) -> np.ndarray:
        records = form.records(exam.length)
        last = max(1, records - 1)
        guess = form.guess(exam.vocabulary, exam.length)
        correct = []
        cells.value("guess", guess)
        for index in range(records):
            depth = index / last
            questions = form.questions(exam, depth)
            scores = exam.score(questions)
            cell = cells.at(axis="index", at=index)
            for metric, hits in scores.items():
                cell.proportion(metric, hits)
            cell.scores("accuracy", scores["accuracy"], f"{index}:")
            correct.append(scores["accuracy"])
            if index == 0:
                cells.drawn(questions.tokens, questions.answers)
        return np.stack(correct, 1)
