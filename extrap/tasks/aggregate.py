"""Aggregation: questions that only the whole context answers.

    majority     which label stands most often
    first-half   which label stands most often in the first half
    count        how often a label stands, modulo a number

Sequences and chance: extrap.data.aggregate. A longer context has more labels, so that counts grow
past the trained ones. Sources: RULER, arXiv 2404.06654; OOLONG, arXiv 2511.02817.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.aggregate import KINDS, AggregateForm, Few, Kind
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.retrieval import Exam, Retrieval
from extrap.utils.bounds import Count, Multiples, OneOrMore


@dataclass(frozen=True, kw_only=True)
class Aggregation(Retrieval):
    """Accuracy by length, a protocol for each of `ask`; nothing is moved, so that there is no
    depth.

    Args:
        ask: kinds of questions
        labels, modulus: as in training

    The other options: extrap.tasks.scoring.retrieval.

    Metrics:

    accuracy, restricted, format    as there; format: is any label, of count any count
    chance    of always saying the most frequent answer, at every length
    guess     of a reader that counts nothing: it names the label of one place, of first-half one in
              that half, the mean over places and trials; of count as chance

    Items: accuracy of each trial.
    """

    name: ClassVar[str] = "aggregate"

    multiples: Multiples = (0.25, 0.5, 1, 2, 4)
    trials: Count = 400
    labels: Few = 4
    modulus: Few = 4
    ask: OneOrMore[Kind] = KINDS

    def forms(self, vocabulary) -> dict[str, AggregateForm]:
        return {kind: AggregateForm(self.labels, self.modulus, kind) for kind in self.ask}

    def chances(self, forms, vocabulary) -> dict[str, float]:
        """Returns none: chance is a row of every length."""
        return {}

    def measure(self, cells: Recorder, form: AggregateForm, exam: Exam) -> np.ndarray:
        questions = form.questions(exam, 0)
        scores = exam.score(questions)
        places = {"drawn": questions.places["drawn"]}
        chance = form.most_frequent(exam.length)
        guess = form.uncounted(questions)
        cells.answers(scores, places)
        cells.value("chance", chance)
        cells.value("guess", guess)
        return scores["accuracy"][:, None]
