"""What heads do with the record asked for: how far it stands out, what attention it gets, and
whether a head follows places or contents.

metric      protocol records, padded, alias; layer, head
margin      logits of the last query: the greatest one of the record's two tokens less the greatest
            one of all other tokens. No row in a layer without logits; no row of a head if a mask
            hides the record from it in any question
mass        attention of the last query to the record; 2 / n if uniform
            margin and mass have a row without layer and head, too: of the head with the greatest
            mass at the shortest length. Attention is diluted if the margin stays and the mass falls
            as n grows: of a softmax, mass >= 1 / (1 + (n - 2) exp(-margin)). arXiv 2607.01538
positional, symbolic
            weights a of the last query become a' if keys i and j change places before positions act
            on them. Mean cosine of (a'_i, a'_j) with (a_i, a_j), and with (a_j, a_i): a head that
            looks at places has positional 1, a head that looks at contents has symbolic 1, uniform
            attention has both. i is the key with the greatest weight of the head, j one of `swaps`
            others. No row in a layer that one part owns. arXiv 2605.31558, by the score of arXiv
            2511.11579
accuracy    right answers; gate: at the training length

Values are means over questions with a 95 % t-interval. The forms are those of extrap.tasks.sinks,
with the record at depths spread evenly over the questions. The score of 2511.11579 takes every pair
(i, j) and weighs it by a softmax of |a_i - a_j|; the pairs here have the greatest differences, and
equal weights. A key that holds its position (sinusoidal, learned) takes it along. We read the
abstracts of 2607.01538 and 2605.31558, and the formulas as others quote them, not the papers.
"""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from extrap.data.trials.base import Trials
from extrap.tasks.base import (
    AtLengths,
    Counter,
    Diagnostic,
    Inside,
    Progress,
    Result,
    Setting,
    batches,
)
from extrap.tasks.diagnosis.inputs import WithRecord, with_record
from extrap.tasks.diagnosis.last_query import LastQuery, margin, mass
from extrap.tasks.scoring.answers import hits
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.sinks import FORMS, Ask
from extrap.utils.bounds import Count, Multiples, OneOrMore, Several

Head = tuple[int, int]
"""Layer and head."""
Measure = tuple[str, int]
"""Metric and layer."""


@dataclass(frozen=True, kw_only=True)
class Needle(AtLengths, Diagnostic):
    """The task that measures what every head does with the record asked for.

    Args:
        multiples: lengths over the training length, 1 among them
        ask: forms of retrieval, as far as the run was trained on them
        inputs: questions of each form and length
        swaps: keys with which the most weighed key changes places
        batch_tokens: tokens per forward
    """

    name: ClassVar[str] = "needle"
    needs_one: ClassVar[str] = "the run learned it"

    multiples: Multiples = (1, 2, 4)
    ask: OneOrMore[Ask] = ("records",)
    inputs: Several = 100
    swaps: Count = 16
    batch_tokens: Count = 4096

    def check(self, setting: Setting) -> None:
        super().check(setting)
        lengths = self.lengths(setting.length)
        for form, length in product(self.ask, lengths):
            FORMS[form].check(f"task.{self.name}", setting.vocabulary, length)
        setting.corpus.check("validation", max(lengths))

    def run(self, model: Inside, setting: Setting, progress: Progress) -> Result:
        ns, vocabulary, stream = self.lengths(setting.length), setting.vocabulary, setting.stream
        recorder, counter = Recorder(), Counter(progress, len(self.ask) * sum(ns))
        chosen: dict[str, Head] = {}
        for form, n in product(self.ask, ns):
            asked = with_record(FORMS[form], Trials(vocabulary, stream, n, range(self.inputs)))
            with recorder.at(protocol=form, length=n).within_range() as cells:
                right, found = self.measured(model, asked)
                cells.mean("accuracy", right)
                if n == setting.length:
                    cells.value("gate", right.mean())
                scores = recorded(cells, found)
                masses = scores["mass"]
                head = chosen.setdefault(form, max(masses, key=lambda one: masses[one].mean()))
                for metric in ("margin", "mass"):
                    if head in scores.get(metric, {}):
                        cells.mean(metric, scores[metric][head])
            counter(n)
        return recorder.by_gate()

    @torch.no_grad()
    def measured(
        self, model: Inside, asked: WithRecord
    ) -> tuple[np.ndarray, dict[Measure, Tensor]]:
        """Returns which questions (N,) are answered, and every measure (N, H)."""
        right: list[np.ndarray] = []
        parts: dict[Measure, list[Tensor]] = {}
        n, length = asked.tokens.shape
        for here in batches(n, length, self.batch_tokens):
            tokens, targets, own = (each[here] for each in asked)
            right.append(hits(model(tokens, last=1)[:, -1], targets.numpy()))
            for layer, given in model.projected(tokens).items():
                query = LastQuery(model.scheme, *given)
                for metric, values in self.of_layer(query, own).items():
                    parts.setdefault((metric, layer), []).append(values.double().cpu())
        found = {measure: torch.cat(values) for measure, values in parts.items()}
        return np.concatenate(right), found

    def of_layer(self, query: LastQuery, own: Tensor) -> dict[str, Tensor]:
        """Returns {metric: (B, H)} of one layer, of the metrics that it has."""
        found = {"mass": mass(query.shares(), own)}
        if query.owned:
            return found
        found["margin"] = margin(query.logits(), own)
        if (roles := query.roles(self.swaps)) is not None:
            found["positional"], found["symbolic"] = roles
        return found


def recorded(cells: Recorder, found: dict[Measure, Tensor]) -> dict[str, dict[Head, np.ndarray]]:
    """Records every measure of every head but infinite ones; returns {metric: {head: (N,)}}."""
    scores: dict[str, dict[Head, np.ndarray]] = {}
    for (metric, layer), values in found.items():
        for head, own in enumerate(values.T.numpy()):
            if np.isinf(own).any():
                continue
            cells.mean(metric, own, layer=layer, head=head)
            scores.setdefault(metric, {})[layer, head] = own
    return scores
