"""What heads do with the record asked for: how far it stands out, what attention it gets, what a
head writes of it, and whether a head follows places or contents.

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
locos       u W_O of what the head writes from the record's two tokens, less 2 / (n - 2) of the same
            from all other tokens, u the row of the right answer in the output embedding: mean over
            the questions that the model answers, no row if it answers fewer than two. It finds
            heads that write the answer without looking at its token. No row in a layer whose gate
            is not linear. arXiv 2607.01002, as its code has it (direct path, no final norm)
accuracy    right answers; of protocols <form>-locos_<k> and <form>-mass_<k> if the output of the k
            heads of the greatest score at the shortest length is 0; gate: at the training length

Values are means over questions with a 95 % t-interval. The forms are those of extrap.tasks.sinks,
with the record at depths spread evenly over the questions. The score of 2511.11579 takes every pair
(i, j) and weighs it by a softmax of |a_i - a_j|; the pairs here have the greatest differences, and
equal weights. A key that holds its position (sinusoidal, learned) takes it along. We read the
abstracts of 2607.01538 and 2605.31558, and the formulas as others quote them, not the papers.
"""

from collections.abc import Iterator
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
from extrap.tasks.diagnosis.inputs import Inputs, WithRecord, answered, with_record
from extrap.tasks.diagnosis.last_query import LastQuery, contrast, margin, mass
from extrap.tasks.scoring.answers import hits
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.sinks import FORMS, Ask
from extrap.utils.bounds import Count, Multiples, OneOrMore, Several

Head = tuple[int, int]
"""Layer and head."""
Measure = tuple[str, int]
"""Metric and layer."""
Scores = dict[str, dict[Head, np.ndarray]]
"""Values (N,) by metric and head."""
Ranks = dict[str, list[Head]]
"""Heads by metric, the greatest mean first."""


@dataclass(frozen=True, kw_only=True)
class Needle(AtLengths, Diagnostic):
    """The task that measures what every head does with the record asked for.

    Args:
        multiples: lengths over the training length, 1 among them
        ask: forms of retrieval, as far as the run was trained on them
        inputs: questions of each form and length
        swaps: keys with which the most weighed key changes places
        knocked: k; more than half of the heads has no rows
        batch_tokens: tokens per forward
    """

    name: ClassVar[str] = "needle"
    needs_one: ClassVar[str] = "the run learned it"

    multiples: Multiples = (1, 2, 4)
    ask: OneOrMore[Ask] = ("records",)
    inputs: Several = 100
    swaps: Count = 16
    knocked: OneOrMore[Count] = (1, 2)
    batch_tokens: Count = 4096

    def check(self, setting: Setting) -> None:
        super().check(setting)
        lengths = self.lengths(setting.length)
        option = f"task.{self.name}"
        for form, length in product(self.ask, lengths):
            FORMS[form].check(option, setting.vocabulary, length)
        setting.corpus.check("validation", max(lengths))

    def run(self, model: Inside, setting: Setting, progress: Progress) -> Result:
        ns = self.lengths(setting.length)
        vocabulary = setting.vocabulary
        stream = setting.stream
        items = range(self.inputs)
        recorder = Recorder()
        counter = Counter(progress, len(self.ask) * sum(ns))
        ranked: dict[str, Ranks] = {}
        for form, n in product(self.ask, ns):
            trials = Trials(vocabulary, stream, n, items)
            asked = with_record(FORMS[form], trials)
            here = recorder.at(protocol=form, length=n)
            with here.within_range() as cells:
                right, found = self.measured(model, asked)
                cells.mean("accuracy", right)
                if n == setting.length:
                    cells.value("gate", right.mean())
                scores = recorded(cells, found)
                ranks = ranked.setdefault(form, by_mean(scores))
                head = ranks["mass"][0]
                for metric in ("margin", "mass"):
                    of_heads = scores.get(metric, {})
                    if head in of_heads:
                        cells.mean(metric, of_heads[head])
                inputs = Inputs(asked.tokens, asked.targets)
                for name, silent in self.silenced(ranks):
                    without = answered(model, inputs, silent, self.batch_tokens)
                    silenced = cells.at(protocol=f"{form}-{name}")
                    silenced.mean("accuracy", without)
            counter(n)
        passed = recorder.passed
        return recorder.result(lambda protocol: str(protocol).split("-")[0] in passed)

    def silenced(self, ranks: Ranks) -> Iterator[tuple[str, list[Head]]]:
        """Yields names of protocols with the heads that they take out."""
        for by, heads in ranks.items():
            for k in self.knocked:
                if 2 * k <= len(heads):
                    yield f"{by}_{k}", heads[:k]

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
            logits = model(tokens, last=1)[:, -1]
            right.append(hits(logits, targets.numpy()))
            for layer, given in model.projected(tokens).items():
                query = LastQuery(model.scheme, *given)
                towards = model.towards(targets, layer)
                of_layer = self.of_layer(query, own, towards)
                for metric, values in of_layer.items():
                    of_batches = parts.setdefault((metric, layer), [])
                    of_batches.append(values.double().cpu())
        answers = np.concatenate(right)
        known = torch.from_numpy(answers == 1)
        found = {}
        for (metric, layer), values in parts.items():
            every = torch.cat(values)
            if metric == "locos":
                every = every[known]
            if len(every) > 1:
                found[metric, layer] = every
        return answers, found

    def of_layer(self, query: LastQuery, own: Tensor, towards: Tensor) -> dict[str, Tensor]:
        """Returns {metric: (B, H)} of one layer, of the metrics that it has."""
        found = {"mass": mass(query.shares(), own)}
        written = query.written(own)
        if written is not None:
            found["locos"] = contrast(*written, towards, own)
        if query.owned:
            return found
        found["margin"] = margin(query.logits(), own)
        roles = query.roles(self.swaps)
        if roles is not None:
            found["positional"], found["symbolic"] = roles
        return found


def recorded(cells: Recorder, found: dict[Measure, Tensor]) -> Scores:
    """Records every measure of every head but infinite ones; returns their values."""
    scores: Scores = {}
    for (metric, layer), values in found.items():
        by_head = values.T.numpy()
        for head, own in enumerate(by_head):
            if np.isinf(own).any():
                continue
            cells.mean(metric, own, layer=layer, head=head)
            of_heads = scores.setdefault(metric, {})
            of_heads[layer, head] = own
    return scores


def by_mean(scores: Scores) -> Ranks:
    """Returns the heads by mass, and by LOCOS if they have one."""
    ranks: Ranks = {}
    for metric in ("mass", "locos"):
        of_heads = scores.get(metric, {})
        means = {head: values.mean() for head, values in of_heads.items()}
        if means:
            ranks[metric] = sorted(means, key=means.__getitem__, reverse=True)
    return ranks
