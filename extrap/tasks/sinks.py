"""Sink ablation: what does retrieval lose once no token sees the first one?

    <form>          the context as it is
    <form>-first    the first token, BOS, is hidden from all others: attention with nothing to
                    read cannot rest there
    <form>-other    control: a token of the middle is hidden, of another record or of the text

Only the mask of attention differs; contexts, coordinates and weights are the same, so that
differences are paired. Layers that own their attention (the delta rule) have no mask and stay as
they are; a model without other layers has the first protocol alone. Sources: arXiv 2510.10276
(sinks disrupted at test: primacy goes), arXiv 2309.17453 (attention sinks).
"""

from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import ClassVar, Literal

import numpy as np

from extrap.data.alias import AliasForm
from extrap.data.keyvalue import Padded, Records
from extrap.data.trials.base import Form, Questions
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import Diagnostic, Inside, Progress, Result, Setting
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.retrieval import Exam, Grid
from extrap.utils.bounds import Count, Multiples, OneOrMore

HIDDEN = ("-first", "-other")
Ask = Literal["records", "padded", "alias"]
FORMS: dict[Ask, Form] = {
    "records": Records(),
    "padded": Padded(8),
    "alias": AliasForm("one-hop"),
}
"""Forms in which one record alone matters: hiding a token of another record is a control. Records
and padded (8 records) are forms of extrap.tasks.kv, one-hop of extrap.tasks.alias."""


@dataclass(frozen=True, kw_only=True)
class SinkAblation(Grid, Diagnostic):
    """Accuracy by length and depth with and without the first token.

    Args:
        ask: forms of retrieval, as far as the run was trained on them

    The other options and rows are those of extrap.tasks.scoring.retrieval; the gate is the accuracy
    of the context as it is. Rows of `change` hold the accuracy with a hidden token less the
    accuracy of the context as it is: a mean over trials, with a t-interval. Items: accuracy of each
    trial.
    """

    name: ClassVar[str] = "sinks"

    multiples: Multiples = (1, 2)
    trials: Count = 100
    ask: OneOrMore[Ask] = ("records", "padded")

    def forms(self, vocabulary: Vocabulary) -> dict[str, Form]:
        return {name: FORMS[name] for name in self.ask}

    def cost(self, form: Form, length: int) -> int:
        return (1 + len(HIDDEN)) * super().cost(form, length)

    def measure(self, cells: Recorder, form: Form, exam: Exam) -> np.ndarray:
        plain = super().measure(cells, form, exam)
        if not exam.model.maskable:
            return plain
        for hidden in HIDDEN:
            protocol = cells.where["protocol"] + hidden
            other = cells.at(protocol=protocol)
            scores = partial(_hiding, exam, hidden)
            found = self.curve(other, form, exam, scores)
            change = found.mean(1) - plain.mean(1)
            other.mean("change", change)
        return plain

    def run(self, model: Inside, setting: Setting, progress: Progress) -> Result:
        recorder = self.recorder(model, setting, progress)
        hidings = HIDDEN if model.maskable else ()
        for form, hidden in product(self.ask, hidings):
            chance = FORMS[form].chance(setting.vocabulary)
            recorder.value("chance", chance, protocol=f"{form}{hidden}")
        passed = recorder.passed
        return recorder.result(lambda protocol: str(protocol).split("-")[0] in passed)


def _hiding(exam: Exam, hidden: str, several: list[Questions]) -> list[dict[str, np.ndarray]]:
    """Returns the scores of the model with one token hidden from it, at every depth."""
    found = []
    for questions in several:
        slot = 0 if hidden == "-first" else other_slot(questions)
        without = partial(exam.model.without, slot=slot)
        hiding = replace(exam, model=without)
        found.append(hiding.score(questions))
    return found


def other_slot(questions: Questions) -> int:
    """Returns the slot next to the middle that holds no token of the asked record or the query."""
    length = questions.tokens.shape[1]
    middle = length // 2
    gold = length - 1 - round(questions.distance)
    record = (gold, gold + 1)
    slots = [slot for slot in range(1, length - 2) if slot not in record]
    return min(slots, key=lambda slot: abs(slot - middle))
